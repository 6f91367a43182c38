/**
 * What the machines of the table have their states in: a reply, a block, a call with its result, a part of a result.
 */

import { LIFECYCLE, type Machine } from "../../../../generated/typescript/lifecycle.js";
import type { AgentEvent, ConfirmResult, Msg, ToolCallBlock, ToolResultBlock } from "../../../../generated/typescript/models.js";
import type { BlockDraft, MessageDraft, ResultDraft } from "./draft.js";

/** What shares a key. */
export class Instance {
  /** Where the machines stand that have moved; the others stand in their initial state. */
  readonly #states = new Map<string, string>();
  readonly parts = new Map<string, Instance>();
  /** What the effects build: the block, or the call; and the call's result. */
  draft: BlockDraft | undefined;
  result: ResultDraft | undefined;

  constructor(
    readonly scope: Machine["scope"],
    readonly kind: string | undefined,
    readonly key: string,
    readonly owner?: Instance,
  ) {}

  state(machine: string): string {
    return this.#states.get(machine) ?? machineOf(machine).initial;
  }

  move(machine: string, state: string): void {
    this.#states.set(machine, state);
  }

  /** Start anew under the same key; what was built stays where it is. */
  renew(): void {
    this.#states.clear();
    this.parts.clear();
    this.draft = this.result = undefined;
  }

  /** Give the machines that have a state here, in the order of the table. */
  machines(): string[] {
    return Object.entries(LIFECYCLE.machines).flatMap(([name, { scope, kind }]) =>
      scope === this.scope && (scope !== "block" || kind === undefined || kind === this.kind) ? [name] : [],
    );
  }
}

/** A reply: its own machines, its instances by kind and key, and the contents that were applied by event id. */
export class Reply extends Instance {
  readonly counts = new Map<string, number>();
  readonly seen = new Map<string, Set<string>>();
  readonly instances = new Map<string, Map<string, Instance>>();
  message: MessageDraft | undefined;

  constructor(key: string) {
    super("reply", undefined, key);
  }

  get role(): Msg["role"] {
    return this.built().head.role;
  }

  /** Give the message. The table lets nothing be built before it is begun. */
  built(): MessageDraft {
    if (this.message === undefined) {
      throw new Error(`reply ${this.key} was not begun`);
    }
    return this.message;
  }

  /** Give all instances, by kind, in the order of their starts. */
  every(): Instance[] {
    return [...this.instances.values()].flatMap((instances) => [...instances.values()]);
  }

  /** Tell whether some call is in a state that parks the reply. */
  parked(): boolean {
    return this.every().some((instance) => instance.machines().some((name) => machineOf(name).parks?.includes(instance.state(name)) ?? false));
  }
}

/** Something of an event's list. */
export type Item = ToolCallBlock | ToolResultBlock | ConfirmResult;

/** What is fed to the machines: an event of a reply, an item of its list, its bytes. */
export interface Feed {
  readonly reply: Reply;
  readonly event: AgentEvent;
  readonly item?: Item;
  readonly bytes?: Buffer;
}

export function machineOf(name: string): Machine {
  const machine = LIFECYCLE.machines[name];
  if (machine === undefined) {
    throw new Error(`the table has no machine ${name}`);
  }
  return machine;
}

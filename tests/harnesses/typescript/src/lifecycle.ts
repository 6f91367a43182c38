/**
 * The interpreter of the lifecycle table (schemas/README.md, "How to read lifecycle.json").
 *
 * Law: (state, event) -> next state and effects, and both come from the table. This file knows no event, no block
 * and no message. Broken rules are walked over: this reducer folds, it does not check.
 */

import { LIFECYCLE, type Cell, type Event, type Guard, type Step } from "../../../../generated/typescript/lifecycle.js";
import type { AgentEvent } from "../../../../generated/typescript/models.js";
import { ROLE_BLOCKS } from "../../../../generated/typescript/tables.js";
import { TextDraft } from "./draft.js";
import { EFFECTS } from "./effects.js";
import { Instance, machineOf, Reply, type Feed, type Item } from "./instance.js";
import { fieldOf } from "./json.js";
import { contentOf, defaultOf } from "./shape.js";

/** How many ended replies are held, so that late results, second ends and redeliveries are recognised. */
const KEEP_ENDED = 1000;

/** Where every reply of a stream stands. */
export class Lifecycle {
  /** The replies that have begun, in the order in which they did. */
  readonly begun: Reply[] = [];
  readonly #held = new Map<string, Reply>();
  readonly #ended = new Set<string>();
  readonly #gone = new Set<string>();

  apply(event: AgentEvent): void {
    const entry = LIFECYCLE.events[event.type];
    const [gate, ...steps] = entry?.steps ?? [];
    const id = fieldOf(event, "reply_id");
    if (entry === undefined || gate === undefined || typeof id !== "string") {
      return;
    }
    const reply = this.#held.get(id) ?? this.#unheld(id);
    const content = contentOf(event);
    const contents = reply.seen.get(event.id);
    const delivery = machineOf("delivery").inputs[contents?.has(content) === true ? "same" : "other"]?.[contents === undefined ? "new" : "applied"];
    if (delivery?.drop === true) {
      return;
    }
    if (this.#dispatch({ reply, event }, entry, gate, steps)) {
      reply.seen.set(event.id, (contents ?? new Set()).add(content));
    }
    if (reply.message !== undefined && !this.#held.has(id) && !this.#gone.has(id)) {
      this.#held.set(id, reply);
      this.begun.push(reply);
    }
    this.#forgetEnded();
  }

  #unheld(id: string): Reply {
    const reply = new Reply(id);
    if (this.#gone.has(id)) {
      reply.move("reply", "gone");
    }
    return reply;
  }

  #forgetEnded(): void {
    for (const id of this.#ended) {
      if (this.#ended.size <= KEEP_ENDED) {
        return;
      }
      this.#ended.delete(id);
      this.#held.delete(id);
      this.#gone.add(id);
    }
  }

  /** Make an event's steps. Tells whether it was applied, in whole or in part. */
  #dispatch(feed: Feed, entry: Event, gate: Step, steps: readonly Step[]): boolean {
    const given = inputOf(gate, feed.event, (key) => defaultOf(feed.event, undefined, key));
    if (given !== undefined && this.#step(feed, feed.reply, gate.machine, given)) {
      return false;
    }
    if (entry.items === undefined) {
      return steps.length === 0 || this.#steps(feed, entry, steps, feed.event);
    }
    const items = (fieldOf(feed.event, entry.items) ?? []) as Item[];
    const applied = items.map((item) => this.#steps({ ...feed, item }, entry, steps, item));
    return items.length === 0 || applied.includes(true);
  }

  /** Make the steps after the first. Tells whether none of them dropped the event. */
  #steps(feed: Feed, entry: Event, steps: readonly Step[], source: AgentEvent | Item): boolean {
    const text = entry.base64 === undefined ? undefined : fieldOf(source, entry.base64.field);
    if (typeof text === "string") {
      const bytes = decoded(text);
      if (bytes === undefined) {
        return false;
      }
      feed = { ...feed, bytes };
    }
    const instance = entry.key === undefined ? feed.reply : find(feed.reply, steps, String(fieldOf(source, entry.key)));
    for (const step of steps) {
      const given = inputOf(step, source, (key) => defaultOf(feed.event, entry.items, key), instance);
      if (given !== undefined && this.#step(feed, instance, step.machine, given)) {
        return false;
      }
    }
    if (instance.kind !== undefined && (instance.draft ?? instance.result) !== undefined) {
      const { instances } = feed.reply;
      instances.set(instance.kind, (instances.get(instance.kind) ?? new Map<string, Instance>()).set(instance.key, instance));
    }
    return true;
  }

  /** Walk one cell. Tells whether the event goes no further. */
  #step(feed: Feed, at: Instance, name: string, given: string): boolean {
    const { reply } = feed;
    const machine = machineOf(name);
    const instance = machine.scope === "part" ? part(at, feed) : at;
    const holder = machine.scope === "reply" ? reply : instance;
    const state = holder.state(name);
    const cell = machine.inputs[given]?.[state];
    if (cell === undefined) {
      throw new Error(`the table has no cell ${name}.${given}.${state}`);
    }
    const outcome: Partial<Cell> = guardOf(feed, instance, name, given, state) ?? cell;
    if (outcome.drop === true) {
      return true;
    }
    if (outcome.renew === true) {
      instance.renew();
    }
    let next = outcome.next ?? state;
    if (outcome.count !== undefined) {
      const count = (reply.counts.get(name) ?? 0) + outcome.count;
      reply.counts.set(name, count);
      next = count === 0 ? (outcome.zero ?? next) : next;
    }
    holder.move(name, next);
    for (const effect of [outcome.effect ?? []].flat()) {
      EFFECTS[effect](feed, instance);
    }
    return (outcome.then ?? []).some((reference) => this.#follow(feed, instance, reference));
  }

  /** Feed what follows: to one machine, or to every instance of the reply that has the input. */
  #follow(feed: Feed, instance: Instance, reference: string): boolean {
    const [machine = "", given = ""] = reference.split(".");
    if (machine !== "*") {
      return this.#step(feed, instance, machine, given);
    }
    for (const each of [feed.reply, ...feed.reply.every()]) {
      for (const name of each.machines()) {
        if (given in machineOf(name).inputs) {
          this.#step(feed, each, name, given);
        }
      }
    }
    this.#ended.add(feed.reply.key);
    return false;
  }
}

/** Give the first guard that holds and stands in place of the cell. */
function guardOf(feed: Feed, instance: Instance, machine: string, given: string, state: string): Guard | undefined {
  return LIFECYCLE.guards.find(
    (guard) =>
      guard.at.includes(`${machine}.${given}`) &&
      (guard.state?.includes(state) ?? true) &&
      (guard.next ?? guard.effect ?? guard.drop) !== undefined &&
      Object.entries(guard.when).every(([name, wanted]) => holds(name, wanted, feed, instance, machine)),
  );
}

function holds(name: string, wanted: unknown, feed: Feed, instance: Instance, machine: string): boolean {
  const { reply } = feed;
  switch (name) {
    case "parked":
      return reply.parked();
    case "overtaken":
      // Asked at the end of the stream only, where nothing is folded any more.
      return false;
    case "forbidden":
      return !ROLE_BLOCKS[reply.role].some((kind) => kind === machineOf(machine).kind);
    case "present":
      return fieldOf(feed.event, String(wanted)) !== undefined;
    default: {
      const holder = machineOf(name).scope === "reply" ? reply : instance;
      return Array.isArray(wanted) && wanted.includes(holder.state(name));
    }
  }
}

/** Find the input of a step; undefined when it feeds nothing. */
function inputOf({ input }: Step, source: unknown, otherwise: (key: string) => unknown, instance?: Instance): string | undefined {
  if (typeof input === "string") {
    return input;
  }
  if ("field" in input) {
    const value = fieldOf(source, input.field) ?? otherwise(input.field);
    const name = String(value);
    return Object.hasOwn(input.values, name) ? input.values[name] : input.otherwise;
  }
  if ("present" in input) {
    return Object.entries(input.present).find(([name]) => fieldOf(source, name) !== undefined)?.[1];
  }
  if (fieldOf(source, input.repeats) === "") {
    return undefined;
  }
  return instance?.draft instanceof TextDraft && instance.draft.repeats() ? input.yes : input.no;
}

/** Find the instance that an event or item names, or make one in its initial states. A call and its result are one. */
function find(reply: Reply, steps: readonly Step[], key: string): Instance {
  const machines = steps.map((step) => machineOf(step.machine));
  const call = machines.some(({ scope }) => scope === "call");
  const kind = call ? machineOf("arguments").kind : machines.find((machine) => machine.kind !== undefined)?.kind;
  return reply.instances.get(kind ?? "")?.get(key) ?? new Instance(call ? "call" : "block", kind, key);
}

/** Find the data block inside a call's result. */
function part(call: Instance, feed: Feed): Instance {
  const key = String(fieldOf(feed.event, LIFECYCLE.events[feed.event.type]?.part ?? ""));
  const found = call.parts.get(key) ?? new Instance("part", undefined, key, call);
  call.parts.set(key, found);
  return found;
}

/** Decode a base64 document strictly: only the one text that its bytes are encoded as is one (RFC 4648, section 3). */
function decoded(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}

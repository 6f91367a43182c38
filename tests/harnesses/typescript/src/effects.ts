/**
 * What each effect does to the message; schemas/README.md explains each in a sentence.
 *
 * Law: an effect looks at the event and at what it builds, never at a state: whether it is in order was decided by
 * the table.
 */

import type { Effect } from "../../../../generated/typescript/lifecycle.js";
import type { AgentEvent, ToolCallBlock, ToolResultBlock } from "../../../../generated/typescript/models.js";
import { BLOCKS, CHILDREN, DEFAULTS, FIELDS } from "../../../../generated/typescript/tables.js";
import { DataDraft, MessageDraft, ResultDraft, TextDraft, WholeDraft } from "./draft.js";
import type { Feed, Instance, Reply } from "./instance.js";
import type { JsonObject } from "./json.js";
import { carried } from "./shape.js";

/** The largest count (schemas/parts/primitives.json). */
const LARGEST = Number.MAX_SAFE_INTEGER;

/** Marks a result that came whole from outside after it was started. */
const PROVISIONAL = "x_provisional";

type FieldNames<E> = E extends unknown ? keyof E : never;
type EventField = FieldNames<AgentEvent>;
type ValueOf<K extends EventField, E = AgentEvent> = E extends unknown ? (K extends keyof E ? NonNullable<E[K]> : never) : never;

/** Read a field of an event, of whatever type has it; undefined when it is absent or null. */
function field<K extends EventField>(event: AgentEvent, key: K): ValueOf<K> | undefined {
  const fields: { readonly [name in EventField]?: unknown } = event;
  return (fields[key] ?? undefined) as ValueOf<K> | undefined;
}

/** Read a field that every event has which the table feeds to this effect. */
function need<K extends EventField>(event: AgentEvent, key: K): ValueOf<K> {
  return there(field(event, key), `${event.type} has no ${key}`);
}

function there<T>(value: T | undefined, otherwise: string): T {
  if (value === undefined) {
    throw new Error(otherwise);
  }
  return value;
}

function textOf({ draft, key }: Instance): TextDraft {
  if (draft instanceof TextDraft) {
    return draft;
  }
  throw new Error(`${key} is no text`);
}

function dataOf({ draft, key }: Instance): DataDraft {
  if (draft instanceof DataDraft) {
    return draft;
  }
  throw new Error(`${key} is no data`);
}

function resultOf({ result, key }: Instance): ResultDraft {
  return there(result, `${key} has no result`);
}

function callIn({ item, event }: Feed): ToolCallBlock {
  if (item !== undefined && "type" in item && item.type === "tool_call") {
    return carried(item, BLOCKS.tool_call);
  }
  throw new Error(`${event.type} carries no call`);
}

/** Give a result that came from outside, without the mark, which is the fold's own. */
function resultIn({ item, event }: Feed): ToolResultBlock {
  if (item !== undefined && "type" in item && item.type === "tool_result") {
    return without(carried(item, BLOCKS.tool_result), [PROVISIONAL]) as ToolResultBlock & JsonObject;
  }
  throw new Error(`${event.type} carries no result`);
}

function without(value: object, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).flatMap(([key, item]) => (keys.includes(key) ? [] : [[key, item] as const])));
}

/** Give what a class's schema does not name, and one field more. */
function unnamed(value: object, name: string, more?: string): JsonObject {
  return without(value, (FIELDS[name] ?? []).flatMap((key) => (key === more ? [] : [key])));
}

function merged(old: unknown, event: AgentEvent): { metadata?: JsonObject } {
  const metadata = field(event, "metadata");
  return metadata === undefined ? {} : { metadata: { ...(old as JsonObject | undefined), ...metadata } };
}

function addCall(reply: Reply, instance: Instance, block: ToolCallBlock): void {
  instance.draft = new TextDraft("input", { ...block });
  reply.built().content.push(instance.draft);
}

function addResult(reply: Reply, instance: Instance, block: ToolResultBlock): void {
  instance.result = new ResultDraft({ ...block });
  reply.built().content.push(instance.result);
}

function takeRequest(feed: Feed, instance: Instance, state: ToolCallBlock["state"]): void {
  put(textOf(instance).wire, { state, ...unnamed(callIn(feed), BLOCKS.tool_call, "suggested_rules") });
}

function close({ event }: Feed, instance: Instance): void {
  const draft = there(instance.draft, `${instance.key} is no block`);
  const text = field(event, "text");
  if (text !== undefined) {
    textOf(instance).replace(text);
  }
  const kind = String(draft.wire.type) as keyof typeof BLOCKS;
  put(draft.wire, { ...unnamed(field(event, "extra") ?? {}, BLOCKS[kind]), finished_at: event.created_at });
}

/** Set fields, whatever their names: an assignment to `__proto__` would set none. */
function put(wire: JsonObject, fields: JsonObject): void {
  for (const [key, value] of Object.entries(fields)) {
    Object.defineProperty(wire, key, { value, configurable: true, enumerable: true, writable: true });
  }
}

/** The effects, by name. */
export const EFFECTS: Readonly<Record<Effect, (feed: Feed, instance: Instance) => void>> = {
  open_message({ reply, event }) {
    const role = field(event, "role") ?? (DEFAULTS.ReplyStartEvent?.role as ValueOf<"role">);
    const head = { id: reply.key, name: need(event, "name"), role, created_at: event.created_at };
    reply.message = new MessageDraft({ ...head, ...merged({}, event) });
  },

  close_message({ reply, event }) {
    const message = reply.built();
    const finished_reason = field(event, "finished_reason") ?? String(DEFAULTS.ReplyEndEvent?.finished_reason);
    const structured_output = field(event, "structured_output");
    const error = field(event, "error");
    message.tail = {
      finished_at: event.created_at,
      finished_reason,
      ...(structured_output === undefined ? {} : { structured_output }),
      ...(error === undefined ? {} : { error: carried(error, "ErrorInfo") }),
    };
    message.head = { ...message.head, ...merged(message.head.metadata, event) };
  },

  add_usage({ reply, event }) {
    const message = reply.built();
    const sum = (key: "input_tokens" | "output_tokens" | "cache_input_tokens" | "cache_creation_input_tokens"): number =>
      Math.min((message.usage?.[key] ?? 0) + (field(event, key) ?? 0), LARGEST);
    message.usage = {
      input_tokens: sum("input_tokens"),
      output_tokens: sum("output_tokens"),
      cache_input_tokens: sum("cache_input_tokens"),
      cache_creation_input_tokens: sum("cache_creation_input_tokens"),
    };
  },

  open_block({ reply, event }, instance) {
    const { kind, key: id } = instance;
    const { created_at } = event;
    if (kind === "text" || kind === "thinking") {
      instance.draft = new TextDraft(kind, { type: kind, id, [kind]: "", created_at });
    } else {
      const name = field(event, "name");
      const wire = { type: kind, id, created_at, ...(name === undefined ? {} : { name }) };
      instance.draft = new DataDraft(wire, need(event, "media_type"));
    }
    reply.built().content.push(instance.draft);
  },

  append_text({ event }, instance) {
    textOf(instance).append(need(event, "delta"));
  },

  append_bytes({ event, bytes }, instance) {
    dataOf(instance).append(there(bytes, `${event.type} has no bytes`));
  },

  set_url({ event }, instance) {
    dataOf(instance).setUrl(need(event, "url"));
  },

  close_block: close,

  add_hint({ reply, event }, instance) {
    const source = field(event, "source");
    instance.draft = new WholeDraft({
      type: "hint",
      id: instance.key,
      hint: carried(need(event, "hint"), String(CHILDREN.HintBlockEvent?.hint)),
      created_at: event.created_at,
      finished_at: event.created_at,
      ...(source === undefined ? {} : { source }),
    });
    reply.built().content.push(instance.draft);
  },

  open_call({ reply, event }, instance) {
    const name = need(event, "tool_call_name");
    addCall(reply, instance, { type: "tool_call", id: instance.key, name, input: "", state: "pending", created_at: event.created_at });
  },

  append_arguments({ event }, instance) {
    textOf(instance).append(need(event, "delta"));
  },

  close_call: close,

  create_call(feed, instance) {
    addCall(feed.reply, instance, { created_at: feed.event.created_at, ...callIn(feed) });
  },

  ask_call(feed, instance) {
    takeRequest(feed, instance, "asking");
  },

  submit_call(feed, instance) {
    takeRequest(feed, instance, "submitted");
  },

  confirm_call({ event, item }, instance) {
    if (item === undefined || !("tool_call" in item)) {
      throw new Error(`${event.type} carries no answer`);
    }
    const { name, input } = item.tool_call;
    put(textOf(instance).wire, { ...unnamed(item.tool_call, BLOCKS.tool_call), state: "allowed", name });
    textOf(instance).replace(input);
  },

  finish_call(_, instance) {
    textOf(instance).wire.state = "finished";
  },

  open_result({ reply, event }, instance) {
    const name = need(event, "tool_call_name");
    addResult(reply, instance, { type: "tool_result", id: instance.key, name, output: [], state: "running", created_at: event.created_at });
  },

  append_output({ event }, instance) {
    resultOf(instance).appendText(need(event, "delta"));
  },

  open_part({ event }, instance) {
    const part = new DataDraft({ type: "data", id: instance.key }, need(event, "media_type"));
    instance.draft = part;
    resultOf(there(instance.owner, `${instance.key} is no part`)).add(part);
  },

  clear_output(_, instance) {
    const result = resultOf(instance);
    delete result.wire.finished_at;
    delete result.wire[PROVISIONAL];
    result.wire.state = DEFAULTS.ToolResultBlock?.state;
    result.setOutput();
    instance.parts.clear();
  },

  close_result({ event }, instance) {
    const { wire } = resultOf(instance);
    delete wire[PROVISIONAL];
    put(wire, { state: need(event, "state"), finished_at: event.created_at, ...merged(wire.metadata, event) });
  },

  add_result(feed, instance) {
    const given = resultIn(feed);
    const { created_at } = feed.event;
    const finished_at = given.finished_at ?? created_at;
    const ended = given.state === DEFAULTS.ToolResultBlock?.state ? {} : { finished_at };
    addResult(feed.reply, instance, { created_at, ...given, ...ended });
    resultOf(instance).setOutput(given.output);
  },

  fill_result(feed, instance) {
    const given = resultIn(feed);
    const result = resultOf(instance);
    put(result.wire, { ...unnamed(given, BLOCKS.tool_result, "metadata"), state: given.state });
    instance.parts.clear();
    result.setOutput(given.output);
  },

  mark_provisional(feed, instance) {
    const { wire } = resultOf(instance);
    wire.finished_at = resultIn(feed).finished_at || feed.event.created_at;
    wire[PROVISIONAL] = true;
  },

  settle_result(_, instance) {
    delete resultOf(instance).wire[PROVISIONAL];
  },
};

/**
 * Values of the contract's classes: what of them is kept, and what of them counts.
 *
 * Law: absent, null and the schema's default are one and the same on reading; what is written leaves out what is
 * absent.
 */

import { createHash } from "node:crypto";

import type { AgentEvent } from "../../../../generated/typescript/models.js";
import { CHILDREN, DEFAULTS, EVENTS, FIELDS, REQUIRED, UNIONS } from "../../../../generated/typescript/tables.js";
import { canonical, isObject, type JsonObject } from "./json.js";

/** Fields of an event that are not its content: they say which event it is, or when it was made. */
const IDENTITY: readonly string[] = ["id", "reply_id", "created_at"];

/** Give the class of a value of a class or union: the member that its tag names. */
function classOf(value: JsonObject, name: string): string {
  const union = UNIONS[name];
  if (union === undefined) {
    return name;
  }
  const [tag, members] = union;
  return members[String(value[tag])] ?? "";
}

/** Give a value that an event carries whole as a message holds it: with its defaults, without optional nulls. */
export function carried<T>(value: T, name: string): T;
export function carried(value: unknown, name: string): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown) => carried(item, name));
  }
  if (!isObject(value)) {
    return value;
  }
  const own = classOf(value, name);
  const required = REQUIRED[own] ?? [];
  const optional = (FIELDS[own] ?? []).flatMap((key) => (required.includes(key) ? [] : [key]));
  const given = Object.entries(value).flatMap(([key, item]) => (item === null && optional.includes(key) ? [] : [[key, item] as const]));
  const whole: JsonObject = { ...DEFAULTS[own], ...Object.fromEntries(given) };
  return mapped(whole, own, carried);
}

/** Digest what counts of an event when a redelivery is told from an id that was used again. */
export function contentOf(event: AgentEvent): string {
  // Fields that no schema names may be the transport's. Those inside of what the event carries go into the message.
  const named = FIELDS[EVENTS[event.type]] ?? [];
  const fields = Object.entries(event).filter(([key]) => named.includes(key) && !IDENTITY.includes(key));
  return createHash("sha256").update(canonical(counted(Object.fromEntries(fields), EVENTS[event.type]))).digest("base64");
}

/** Give what counts of a value: defaults filled in, nothing that is empty. */
function counted(value: unknown, name: string): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => counted(item, name));
  }
  if (!isObject(value)) {
    return value;
  }
  const own = classOf(value, name);
  const given = Object.entries(value).filter(([, item]) => item !== null);
  const whole: JsonObject = { ...DEFAULTS[own], ...Object.fromEntries(given) };
  const entries = Object.entries(mapped(whole, own, counted));
  return Object.fromEntries(entries.flatMap(([key, item]) => (isEmpty(item) ? [] : [[key, item] as const])));
}

function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) {
    return Object.keys(value).length === 0;
  }
  return value === undefined || value === null || value === "";
}

/** Map the fields that hold values of a class or union; free-form fields stay as they are. */
function mapped(value: JsonObject, name: string, map: (item: unknown, name: string) => unknown): JsonObject {
  const children = CHILDREN[name] ?? {};
  const entries = Object.entries(value).map(([key, item]) => {
    const child = Object.hasOwn(children, key) ? children[key] : undefined;
    return [key, child === undefined ? item : map(item, child)] as const;
  });
  return Object.fromEntries(entries);
}

/** Give what the schema means when a field of an event, or of the items of its list, is absent. */
export function defaultOf(event: AgentEvent, items: string | undefined, key: string): unknown {
  const own = EVENTS[event.type];
  const name = items === undefined ? own : CHILDREN[own]?.[items];
  return DEFAULTS[name ?? ""]?.[key];
}

/**
 * JSON values: telling, repairing, comparing.
 *
 * Law: what comes out of `repaired` shares nothing with what went in, holds no lone surrogate and nests at most
 * MAX_DEPTH deep, so that whoever walks it may recurse. Objects are made with Object.fromEntries and spread only:
 * they take any key, `__proto__` included, as a field.
 */

export type JsonObject = Record<string, unknown>;

/** Deepest nesting of an event, the event itself included. */
const MAX_DEPTH = 100;

/** A value that no event may have; says why. */
export class Unreadable extends Error {}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Read a field, as a table names it; undefined when it is absent or null. A dot goes into an object. */
export function fieldOf(source: unknown, path: string): unknown {
  let value: unknown = source;
  for (const name of path.split(".")) {
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value ?? undefined;
}

/** Copy a value, with U+FFFD in place of each lone surrogate. */
export function repaired(value: unknown, depth = 1): unknown {
  if (typeof value === "string") {
    return value.toWellFormed();
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new Unreadable("a number is beyond what a double holds");
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (depth > MAX_DEPTH) {
    throw new Unreadable(`nested deeper than ${MAX_DEPTH}`);
  }
  if (Array.isArray(value)) {
    return value.map((item) => repaired(item, depth + 1));
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), repaired(item, depth + 1)]));
}

/** Write a value so that equal values, whatever the order of their fields, are equal text. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join()}]`;
  }
  if (isObject(value)) {
    const fields = Object.keys(value).sort();
    return `{${fields.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
  }
  return JSON.stringify(value);
}

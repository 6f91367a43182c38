/**
 * A value -> an event of the contract, or nothing.
 *
 * Law: an event is judged by the schema of its own type, and what its schema refuses is dropped whole. An event of
 * a type that nobody knows is dropped, too.
 */

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

import type { AgentEvent } from "../../../../generated/typescript/models.js";
import { SCHEMA } from "../../../../generated/typescript/schema.js";
import { EVENTS } from "../../../../generated/typescript/tables.js";
import { isObject, repaired, Unreadable } from "./json.js";

const ajv = new Ajv2020({ strict: false, discriminator: true });
ajv.addSchema(SCHEMA);

const validators = new Map<string, ValidateFunction>();

/** Give the event that a value is; undefined when it is none. */
export function readEvent(value: unknown): AgentEvent | undefined {
  try {
    const event = repaired(value);
    return isEvent(event) ? event : undefined;
  } catch (error) {
    if (error instanceof Unreadable) {
      return undefined;
    }
    throw error;
  }
}

function isEvent(value: unknown): value is AgentEvent {
  return isObject(value) && isKnown(value.type) && validator(EVENTS[value.type])(value) === true;
}

function isKnown(type: unknown): type is AgentEvent["type"] {
  return typeof type === "string" && Object.hasOwn(EVENTS, type);
}

function validator(name: string): ValidateFunction {
  let found = validators.get(name);
  if (found === undefined) {
    found = ajv.getSchema(`${String(SCHEMA.$id)}#/$defs/${name}`);
    if (found === undefined) {
      throw new Error(`the bundle has no ${name}`);
    }
    validators.set(name, found);
  }
  return found;
}

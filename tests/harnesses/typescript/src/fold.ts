/**
 * Events -> messages: one for each reply, in the order in which the replies began, whatever the stream.
 */

import type { Msg } from "../../../../generated/typescript/models.js";
import { Lifecycle } from "./lifecycle.js";
import { readEvent } from "./read.js";

/** Fold a stream of values. Those that are no event of the contract are dropped. */
export function fold(values: readonly unknown[]): Msg[] {
  const lifecycle = new Lifecycle();
  for (const value of values) {
    const event = readEvent(value);
    if (event !== undefined) {
      lifecycle.apply(event);
    }
  }
  // The table and the schemas make it one; the tests hold it against them.
  return lifecycle.begun.map((reply) => reply.built().snapshot() as unknown as Msg);
}

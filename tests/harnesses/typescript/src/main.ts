/**
 * The reducer as a harness of eventfold: JSON lines on standard input and output (schemas/meta/harness.json).
 */

import { StringDecoder } from "node:string_decoder";

import type { Request, Response, Started } from "../../../../generated/typescript/harness.js";
import { fold } from "./fold.js";

const STARTED: Started = { protocol: 1, name: "table-in-typescript", language: "TypeScript" };

function answer(request: Request): Started | Response | undefined {
  switch (request.cmd) {
    case "start":
      return STARTED;
    case "run":
      try {
        return { seq: request.seq, messages: fold(request.events).map((message) => ({ ...message })) };
      } catch (error) {
        return { seq: request.seq, error: String(error) };
      }
    case "stop":
      return undefined;
  }
}

/** Give the lines of standard input. A line ends at LF alone: node:readline also cuts at U+2028, which is text. */
async function* lines(): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let held: string[] = [];
  for await (const chunk of process.stdin) {
    const [first = "", ...others] = decoder.write(chunk as Buffer).split("\n");
    held.push(first);
    for (const next of others) {
      yield held.join("");
      held = [next];
    }
  }
}

for await (const line of lines()) {
  const said = answer(JSON.parse(line) as Request);
  if (said === undefined) {
    break;
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

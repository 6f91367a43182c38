#!/usr/bin/env node
// What @ag-ui/client makes of streams of events: one JSON request a line in, one JSON verdict a line out.
//
// Request: {events, messages?, state?}. Verdict: {error, index, accepted, messages, state, waiting, problems, warnings}:
// what the client raised and at which event, the types of the events that it let through (chunks expanded), what its
// reducer made of them, the interrupts that wait, what the schema of each event alone says, and what was written to the console.
import { createRequire } from "node:module";
import { concatMap, from, lastValueFrom, defaultIfEmpty, tap } from "rxjs";

// The package's ES modules import without extensions; its CommonJS ones load everywhere.
const require = createRequire(import.meta.url);
const client = require("@ag-ui/client");
const { EventSchema } = require("@ag-ui/core/schemas");

class Listed extends client.AbstractAgent {
  run() {
    throw new Error("not run");
  }
}

const warnings = [];
const note = (...args) => warnings.push(args.map((arg) => (arg instanceof Error ? arg.message : String(arg))).join(" "));
console.warn = note;
console.error = note;

async function judge({ events, messages = [], state = {} }) {
  warnings.length = 0;
  const head = { threadId: "thread", runId: "run" };
  const agent = new Listed({ threadId: head.threadId, initialMessages: messages, initialState: state });
  const input = { ...head, messages, state, tools: [], context: [], forwardedProps: {} };
  let index = -1;
  const accepted = [];
  // The reducer is asynchronous: were the events not paced, an error would throw away what is still queued.
  const paced = from(events).pipe(concatMap(async (event) => (await new Promise(setImmediate), event)));
  const verified = paced.pipe(
    tap(() => (index += 1)),
    client.enforceEvents(),
    client.transformChunks(),
    client.verifyEvents(),
    tap((event) => accepted.push(event.type)),
  );
  const verdict = { error: null, index: null, messages: agent.messages, state: agent.state };
  try {
    const reduced = client.defaultApplyEvents(input, verified, agent, []).pipe(
      tap((change) => {
        if (change.messages !== undefined) verdict.messages = change.messages;
        if (change.state !== undefined) verdict.state = change.state;
      }),
      defaultIfEmpty(null),
    );
    await lastValueFrom(reduced);
  } catch (error) {
    verdict.error = error.issues ? error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ") : error.message;
    verdict.index = index;
  }
  const problems = events.flatMap((event, at) => {
    const result = EventSchema.safeParse(event);
    return result.success ? [] : [{ index: at, issues: result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`) }];
  });
  return { ...verdict, accepted, waiting: agent.pendingInterrupts, problems, warnings: [...warnings] };
}

// Not node:readline, which also splits at U+2028 and U+2029: both may stand in a JSON string.
let rest = "";
process.stdin.setEncoding("utf8");
for await (const piece of process.stdin) {
  const lines = (rest + piece).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    let verdict;
    try {
      verdict = await judge(JSON.parse(line));
    } catch (error) {
      verdict = { error: `judge: ${error.message}`, index: null };
    }
    process.stdout.write(`${JSON.stringify(verdict)}\n`);
  }
}

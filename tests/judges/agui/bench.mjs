#!/usr/bin/env node
// What @ag-ui/client takes for a stream: `node bench.mjs FILE` reads the lines of a file once, then answers each line of
// standard input: "run" with {seconds, peak}, "show" with {messages}. The work is parsing each line and the whole pipeline.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { from, lastValueFrom, defaultIfEmpty, map, tap } from "rxjs";

const require = createRequire(import.meta.url);
const client = require("@ag-ui/client");

class Listed extends client.AbstractAgent {
  run() {
    throw new Error("not run");
  }
}

const lines = readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean);

async function run() {
  const head = { threadId: "thread", runId: "run" };
  const agent = new Listed({ threadId: head.threadId, initialMessages: [], initialState: {} });
  const input = { ...head, messages: [], state: {}, tools: [], context: [], forwardedProps: {} };
  let messages = [];
  const events = from(lines).pipe(
    map((line) => JSON.parse(line)),
    client.enforceEvents(),
    client.transformChunks(),
    client.verifyEvents(),
  );
  await lastValueFrom(
    client.defaultApplyEvents(input, events, agent, []).pipe(
      tap((change) => {
        if (change.messages !== undefined) messages = change.messages;
      }),
      defaultIfEmpty(null),
    ),
  );
  return messages;
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const before = process.memoryUsage().rss;
    const start = process.hrtime.bigint();
    const messages = await run();
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    const peak = Math.max(process.resourceUsage().maxRSS * 1024 - before, 0);
    answer = line === "show" ? { seconds, peak, messages } : { seconds, peak };
  } catch (error) {
    answer = { error: String(error.message).slice(0, 300) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

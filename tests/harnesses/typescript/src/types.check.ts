/**
 * What the generated types promise, as a program that only the compiler runs: a slip below an `@ts-expect-error` that
 * compiles fails the build.
 */

import type { AgentEvent, AssistantMsg, Msg, UserMsg } from "../../../../generated/typescript/models.js";

/** The tag of an event tells its fields. */
export function told(event: AgentEvent): string {
  switch (event.type) {
    case "TEXT_BLOCK_DELTA":
      return event.block_id + event.delta;
    case "REPLY_END":
      return event.error?.message ?? event.finished_reason ?? "completed";
    case "TOOL_RESULT_END":
      // @ts-expect-error: a result's end has no delta
      return event.delta;
    default:
      // @ts-expect-error: not every event has a block_id
      return event.block_id;
  }
}

/** The role of a message tells its blocks. */
export function spoken(message: Msg): string[] {
  switch (message.role) {
    case "system":
      return message.content.map((block) => block.text);
    case "tool":
      return message.content.map((block) => block.name);
    default:
      return message.content.map((block) => block.type);
  }
}

const call = { type: "tool_call", id: "c", name: "search", input: "{}" } as const;
const head = { id: "m", name: "n", created_at: "2026-01-01T00:00:00" };
export const allowed: AssistantMsg = { ...head, role: "assistant", content: [call] };
// @ts-expect-error: a user's message holds no tool call
export const forbidden: UserMsg = { ...head, role: "user", content: [call] };
// @ts-expect-error: an event of a reply says of which
export const lost: AgentEvent = { type: "USER_INTERRUPT", id: "e", created_at: "2026-01-01T00:00:00" };

// The AI SDK as a judge: one JSON value a line in, one a line out, in order.
//
//   {op: "chunks", chunks}     -> {rejected, errors, message, request}  chunks through uiMessageChunkSchema and readUIMessageStream
//   {op: "sse", text}          -> the same, of a whole response as text
//   {op: "ui", messages}       -> {valid, error, request}               stored UI messages, and what they are for a model
//   {op: "request", messages}  -> {valid, error, accepted}              ModelMessages: their schema, and a model that takes them
import { createInterface } from 'node:readline';
import { parseJsonEventStream, safeValidateTypes } from '@ai-sdk/provider-utils';
import {
  convertToModelMessages,
  generateText,
  modelMessageSchema,
  readUIMessageStream,
  safeValidateUIMessages,
  uiMessageChunkSchema,
} from 'ai';
import { MockLanguageModelV3 } from 'ai/test';

const text = error => String(error?.message ?? error).slice(0, 300);

async function fold(chunks) {
  const errors = [];
  let message = null;
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  try {
    for await (const next of readUIMessageStream({ stream, onError: error => errors.push(text(error)) })) message = next;
  } catch (error) {
    errors.push(text(error));
  }
  let request = null;
  if (message !== null) request = await convertToModelMessages([message]).catch(error => text(error));
  return { errors, message, request };
}

const finish = {
  content: [{ type: 'text', text: 'ok' }],
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
  warnings: [],
};

const operations = {
  async chunks({ chunks }) {
    const good = [];
    const rejected = [];
    for (const [index, value] of chunks.entries()) {
      const result = await safeValidateTypes({ value, schema: uiMessageChunkSchema });
      if (result.success) good.push(value);
      else rejected.push(index);
    }
    return { rejected, ...(await fold(good)) };
  },
  async sse({ text: body }) {
    const good = [];
    const rejected = [];
    const stream = parseJsonEventStream({ stream: new Blob([body]).stream(), schema: uiMessageChunkSchema });
    for await (const result of stream) {
      if (result.success) good.push(result.value);
      else rejected.push(text(result.error));
    }
    return { rejected, ...(await fold(good)) };
  },
  async ui({ messages }) {
    const result = await safeValidateUIMessages({ messages });
    const request = await convertToModelMessages(messages).catch(error => text(error));
    return { valid: result.success, error: result.success ? null : text(result.error), request };
  },
  async request({ messages }) {
    const result = modelMessageSchema.array().safeParse(messages);
    let accepted = null;
    const model = new MockLanguageModelV3({ doGenerate: finish, supportedUrls: { '*/*': [/.*/] } });
    try {
      await generateText({ model, messages, allowSystemInMessages: true });
    } catch (error) {
      accepted = `${error?.name}: ${text(error)}`;
    }
    return { valid: result.success, error: result.success ? null : text(result.error), accepted, prompt: model.doGenerateCalls[0]?.prompt ?? null };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let answer;
  try {
    answer = await operations[asked.op](asked);
  } catch (error) {
    answer = { failed: text(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

/**
 * A message under construction.
 *
 * Law: work is linear in what comes in. Bytes are kept in pieces and encoded once, when somebody looks.
 */

import type { DataSource, Msg, TextBlock, TextOrDataBlock } from "../../../../generated/typescript/models.js";
import type { JsonObject } from "./json.js";

/** A block whose text grows in one field. */
export class TextDraft {
  /** The newest delta with text, if it held all the text so far and more. */
  #said: string | undefined;
  #text: string;

  constructor(
    readonly field: "text" | "thinking" | "input",
    readonly wire: JsonObject,
  ) {
    this.#text = String(wire[field]);
  }

  append(text: string): void {
    if (text !== "") {
      const heard = this.#said ?? this.#text;
      this.#said = text.length > heard.length && text.startsWith(heard) ? text : undefined;
    }
    this.#text += text;
  }

  replace(text: string): void {
    this.#text = text;
  }

  /** Tell whether the newest delta held all the text so far, as its producer has it, and more. */
  repeats(): boolean {
    return this.#said !== undefined;
  }

  snapshot(): JsonObject {
    return { ...this.wire, [this.field]: this.#text };
  }
}

/** A data block: bytes that grow, or a URL. */
export class DataDraft {
  #pieces: Buffer[] = [];
  #url: string | undefined;

  constructor(
    readonly wire: JsonObject,
    readonly mediaType: string,
  ) {}

  append(data: Buffer): void {
    this.#pieces.push(data);
  }

  /** Make a URL the whole content. */
  setUrl(url: string): void {
    this.#url = url;
    this.#pieces = [];
  }

  snapshot(): JsonObject {
    const media_type = this.mediaType;
    const source: DataSource =
      this.#url === undefined
        ? { type: "base64", data: Buffer.concat(this.#pieces).toString("base64"), media_type }
        : { type: "url", url: this.#url, media_type };
    return { ...this.wire, source };
  }
}

/** A block that came whole. */
export class WholeDraft {
  constructor(readonly wire: JsonObject) {}

  snapshot(): JsonObject {
    return this.wire;
  }
}

/** A tool result: an output that came whole, or parts that grow. */
export class ResultDraft {
  #whole: string | TextOrDataBlock[] | undefined;
  #parts: (TextDraft | DataDraft | WholeDraft)[] = [];

  constructor(readonly wire: JsonObject & { id: string }) {}

  /** Take an output that came whole; without one, begin anew. */
  setOutput(output?: string | TextOrDataBlock[]): void {
    this.#whole = output;
    this.#parts = [];
  }

  /** Add text to the last part, or to a new one whose id is derived from its place. */
  appendText(text: string): void {
    const parts = this.#open();
    const last = parts.at(-1);
    if (last instanceof TextDraft) {
      last.append(text);
    } else {
      const fresh = this.#text("");
      fresh.append(text);
      parts.push(fresh);
    }
  }

  add(part: DataDraft): void {
    this.#open().push(part);
  }

  snapshot(): JsonObject {
    return { ...this.wire, output: this.#whole ?? this.#parts.map((part) => part.snapshot()) };
  }

  /** Make parts of an output that came whole, so that it can grow. */
  #open(): (TextDraft | DataDraft | WholeDraft)[] {
    const whole = this.#whole;
    this.#whole = undefined;
    if (typeof whole === "string") {
      this.#parts = [this.#text(whole)];
    } else if (whole !== undefined) {
      this.#parts = whole.map((block) => (block.type === "text" ? new TextDraft("text", { ...block }) : new WholeDraft({ ...block })));
    }
    return this.#parts;
  }

  #text(text: string): TextDraft {
    const block: TextBlock = { type: "text", id: `${this.wire.id}/${this.#parts.length}`, text };
    return new TextDraft("text", { ...block });
  }
}

export type BlockDraft = TextDraft | DataDraft | WholeDraft;

/** What every message has from its start. */
export type Head = Pick<Msg, "id" | "name" | "role" | "created_at" | "metadata">;

/** A message: its head, its blocks in the order of their starts, and its end. */
export class MessageDraft {
  readonly content: (BlockDraft | ResultDraft)[] = [];
  usage: Msg["usage"];
  tail: Pick<Msg, "finished_at" | "finished_reason" | "structured_output" | "error"> = {};

  constructor(public head: Head) {}

  snapshot(): JsonObject {
    const content = this.content.map((block) => block.snapshot());
    return { ...this.head, content, ...(this.usage === undefined ? {} : { usage: this.usage }), ...this.tail };
  }
}

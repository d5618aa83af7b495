import type { Json } from "./json.ts";

/** A piece of content that a person, a tool or a model can give. */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image" | "file";
      readonly mediaType: string;
      readonly data?: string;
      readonly url?: string;
    };

/** `opaque` is the provider's own data, sent back unchanged. */
export type TextPart = { readonly type: "text"; readonly text: string; readonly opaque?: Json };

/** What the model thought. `opaque` is the provider's own data (signatures, encrypted items), sent back unchanged. */
export type ReasoningPart = { readonly type: "reasoning"; readonly text: string; readonly opaque?: Json };

/**
 * A tool call the model finished saying. `id` is unique within the session; `providerId` is what the
 * provider called it, present only when the two differ, and is what goes back to the provider.
 * `raw` is the argument text when it was not a JSON object; `input` is then empty and the call is refused.
 */
export type CallPart = {
  readonly type: "call";
  readonly id: string;
  readonly providerId?: string;
  readonly name: string;
  readonly input: { readonly [key: string]: Json };
  readonly raw?: string;
  /** The provider's own data, sent back unchanged. */
  readonly opaque?: Json;
};

/** A part that this library does not know, kept as it came and given back in its place. */
export type OpaquePart = { readonly type: "opaque"; readonly data: Json };

export type AssistantPart = TextPart | ReasoningPart | CallPart | OpaquePart;

export type ResultStatus = "ok" | "error" | "denied" | "skipped" | "interrupted";

/** A passage that a tool found and that an answer can cite. */
export type Fragment = {
  readonly id: string;
  readonly content: string;
  readonly source: {
    readonly title: string;
    readonly url?: string;
    readonly [key: string]: Json | undefined;
  };
};

/** A fragment with its number in the session: from 1, in the order found, and never another one. */
export type NumberedFragment = Fragment & { readonly n: number };

/** A number in a text, as `[n]`, and the source that it stands for. */
export type Citation = {
  readonly n: number;
  /** Of the fragment. */
  readonly id: string;
  readonly title: string;
  readonly url?: string;
};

export type UiHint = { readonly kind: string; readonly props: Json };

export type UserEntry = { readonly type: "user"; readonly content: string | readonly Part[] };
/** `parts` stay in the provider's order. */
export type AssistantEntry = { readonly type: "assistant"; readonly parts: readonly AssistantPart[] };
export type ResultEntry = {
  readonly type: "result";
  readonly callId: string;
  readonly name: string;
  readonly status: ResultStatus;
  readonly content: string | readonly Part[];
  readonly data?: Json;
  readonly error?: { readonly code: string; readonly message: string };
  readonly ui?: UiHint;
  readonly contexts?: readonly Fragment[];
  readonly affected?: Json;
  /** A line about it, by the tool: what is left of the content when room is needed. */
  readonly message?: string;
  /** Where the whole result is, when it was too large for the model. */
  readonly handle?: string;
};

/** One item of the history. A history handed to a model has a result for every call, in call order. */
export type Entry =
  | UserEntry
  | AssistantEntry
  | ResultEntry
  | { readonly type: "summary"; readonly text: string };

export function getText(entry: AssistantEntry): string {
  let text = "";
  for (const part of entry.parts) if (part.type === "text") text += part.text;
  return text;
}

export function getCalls(entry: AssistantEntry): readonly CallPart[] {
  return entry.parts.filter((part) => part.type === "call");
}

/** Content as plain text; what is not text is named, not shown. */
export function toPlainText(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.type} ${part.mediaType}]`))
    .join("\n");
}

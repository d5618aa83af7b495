import type { Json } from "../base/json.ts";
import type { Provenance } from "./provenance.ts";
import type { Reads } from "./tool.ts";

/** A file that was uploaded to a provider, which alone can read it: see `Model.files`. */
export type FileReference = {
  readonly provider: string;
  readonly id: string;
  /** When the provider deletes the file, in milliseconds since 1970. */
  readonly expiresAt?: number;
};

/**
 * An image or another file: its bytes in base64, a URL, or a file at a provider. With several of them, a provider gets
 * its own file, else the bytes, else the URL. A model that can use none of them gets a placeholder.
 */
export type MediaPart = {
  readonly type: "image" | "file";
  readonly mediaType: string;
  readonly data?: string;
  readonly url?: string;
  readonly file?: FileReference;
};

/** A unit of content from a user, a tool or a model. */
export type Part = { readonly type: "text"; readonly text: string } | MediaPart;

/** `opaque` is the provider's own data, sent back unchanged. */
export type TextPart = { readonly type: "text"; readonly text: string; readonly opaque?: Json };

/** The model's reasoning. `opaque` is the provider's own data (signatures, encrypted items), sent back unchanged. */
export type ReasoningPart = { readonly type: "reasoning"; readonly text: string; readonly opaque?: Json };

/**
 * A complete tool call. `id` is unique within the session; `providerId` is the provider's id, present only if it
 * differs, and is sent back to the provider. `raw` is the argument text if it was not a JSON object; `input` is then
 * empty and the call is refused.
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

/** A part of an unknown type, kept and sent back unchanged in its position. */
export type OpaquePart = { readonly type: "opaque"; readonly data: Json };

/** An image, audio or video that the model generated. A fact has the `handle` of the bytes, which are a blob of the session. */
export type GeneratedMedia = {
  readonly type: "media";
  readonly mediaType: string;
  readonly handle?: string;
  /** In bytes. */
  readonly size?: number;
  /** In base64: in an answer before it is stored, and in a request to the provider that takes it back. */
  readonly data?: string;
  /** The provider's own data, sent back unchanged. Media without it are not sent back. */
  readonly opaque?: Json;
};

export type AssistantPart = TextPart | ReasoningPart | CallPart | OpaquePart | GeneratedMedia;

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
  /** The content of the result has the passage and its id: the list of its sources then has only the number and the id. */
  readonly isInResult?: true;
};

/** A fragment with its number, which counts from 1 in the order found and never changes within a session. */
export type NumberedFragment = Fragment & { readonly n: number };

/** A citation `[n]` in a text, with its source. */
export type Citation = {
  readonly n: number;
  /** The fragment's id. */
  readonly id: string;
  readonly title: string;
  readonly url?: string;
};

export type UiHint = { readonly kind: string; readonly props: Json };

/** A message to the model. The author is not always the user: see `getProvenance`. */
export type UserEntry = {
  readonly type: "user";
  readonly content: string | readonly Part[];
  /** Default: `user`. */
  readonly provenance?: Provenance;
};
/** `parts` are in the provider's order. */
export type AssistantEntry = {
  readonly type: "assistant";
  readonly parts: readonly AssistantPart[];
  /** Default: `operator`. */
  readonly provenance?: Provenance;
};
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
  /** The tool's one-line description, which replaces the content when the history is compacted. */
  readonly message?: string;
  /** Handle of the complete result if it was too large for the model. */
  readonly handle?: string;
  /** The tool returned more data than is kept: the content ends early. */
  readonly isPartial?: true;
  /** Labels of the data in the result. */
  readonly reads?: readonly Reads[];
};

/** One item of the history. In the history sent to a model, every call has its result, in call order. */
export type Entry =
  | UserEntry
  | AssistantEntry
  | ResultEntry
  | {
      readonly type: "summary";
      readonly text: string;
      /** Default: `operator`. */
      readonly provenance?: Provenance;
    };

export function getText(entry: AssistantEntry): string {
  let text = "";
  for (const part of entry.parts) if (part.type === "text") text += part.text;
  return text;
}

export function getCalls(entry: AssistantEntry): readonly CallPart[] {
  return entry.parts.filter((part) => part.type === "call");
}

/** Returns the text of an answer; for an answer that is only media, their placeholders. */
export function getAnswerText(entry: AssistantEntry): string {
  return getText(entry).trim() || getMedia(entry).map(formatPlaceholder).join("\n");
}

export function getMedia(entry: AssistantEntry): readonly GeneratedMedia[] {
  return entry.parts.filter((part) => part.type === "media");
}

/** Describes stored media to a user: `[image image/png, 512 kB → blob_1]`. */
export function formatMedia(part: GeneratedMedia): string {
  const { size, handle } = part;
  const bytes = size === undefined ? "" : `, ${Math.max(1, Math.round(size / 1000))} kB`;
  return formatPlaceholder(part).replace(/\]$/, `${bytes}${handle === undefined ? "" : ` → ${handle}`}]`);
}

/** Converts content to plain text; other parts become placeholders such as `[image image/png]`. */
export function toPlainText(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : formatPlaceholder(part))).join("\n");
}

/** Describes media to a reader that cannot have them: `[image image/png]`, `[audio audio/mpeg]`, `[file application/pdf]`. */
export function formatPlaceholder({ type, mediaType }: MediaPart | GeneratedMedia): string {
  const kind = type === "media" ? (/^(?:image|audio|video)(?=\/)/.exec(mediaType)?.[0] ?? "file") : type;
  return `[${kind} ${mediaType}]`;
}

const charactersPerToken = 4;
/** Overhead of an entry. */
const tokensPerEntry = 4;
const tokensPerImage = 1500;
const tokensPerFile = 5000;

/** Estimates the tokens of a text: one per 4 Latin characters, 2 characters of most other scripts, 1 East Asian one. */
export function estimateTextTokens(text: string): number {
  let quarters = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    quarters += code < 0x250 ? 1 : code < 0x1100 ? 2 : charactersPerToken;
  }
  return Math.ceil(quarters / charactersPerToken);
}

/** A result lists its passages in about as many characters, and leaves out the rest. */
export const maxSourcesLength = 24_000;

/** Estimates the tokens of an entry in a request. */
export function estimateEntryTokens(entry: Entry): number {
  switch (entry.type) {
    case "user":
      return tokensPerEntry + estimateContentTokens(entry.content);
    case "result":
      return tokensPerEntry + estimateContentTokens(entry.content) + estimateSourceTokens(entry.contexts);
    case "summary":
      return tokensPerEntry + estimateTextTokens(entry.text);
    case "assistant":
      return entry.parts.reduce((sum, part) => sum + estimatePartTokens(part), tokensPerEntry);
  }
}

export function estimateTokens(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + estimateEntryTokens(entry), 0);
}

function estimateContentTokens(content: string | readonly Part[]): number {
  if (typeof content === "string") return estimateTextTokens(content);
  const sizes = content.map((part) => {
    if (part.type === "text") return estimateTextTokens(part.text);
    return part.type === "image" ? tokensPerImage : tokensPerFile;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

function estimateSourceTokens(contexts: readonly Fragment[] = []): number {
  if (contexts.length === 0) return 0;
  const texts = contexts.map(({ id, content, source: { title }, isInResult }) =>
    isInResult ? id : `${title} ${content}`,
  );
  return tokensPerEntry + estimateTextTokens(texts.join(" ").slice(0, maxSourcesLength));
}

/** Only media with the provider's own data are sent back. */
function estimateMediaTokens(mediaType: string): number {
  return mediaType.startsWith("image/") ? tokensPerImage : tokensPerFile;
}

function estimatePartTokens(part: AssistantPart): number {
  if (part.type === "opaque") return estimateTextTokens(JSON.stringify(part.data));
  const opaque = part.opaque === undefined ? 0 : estimateTextTokens(JSON.stringify(part.opaque));
  if (part.type === "media")
    return part.opaque === undefined ? tokensPerEntry : opaque + estimateMediaTokens(part.mediaType);
  if (part.type !== "call") return opaque + estimateTextTokens(part.text);
  return opaque + estimateTextTokens(part.name) + estimateTextTokens(part.raw ?? JSON.stringify(part.input));
}

import { isRecord, type Json } from "../base/json.ts";
import type { MediaPart } from "../kernel/history.ts";
import type { HostedToolSpec } from "../kernel/hosted-tool.ts";
import type { Chunk, ModelRequest, StopReason } from "../kernel/model.ts";
import type { ModelSettings, ToolChoice } from "../kernel/settings/settings.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { EventShapes, ShapedEvent } from "./event-shapes.ts";

/** What a wire needs in addition to the request: the settings of the client and of the request, merged. */
export type WireSettings = Omit<ModelSettings, "toolChoice"> & {
  /** The model's name at the provider. */
  readonly model: string;
  readonly stream: boolean;
  /** The time of a request with hosted tools, in milliseconds since the epoch. */
  readonly now?: number;
};

/** One server-sent event. */
export type WireEvent = { readonly event?: string | undefined; readonly data: string };

/**
 * The format of one provider's API: pure functions, no network, no clock. Opaque data in a wire's chunks is tagged
 * with its `name`, so that it returns unchanged to this provider and to no other.
 */
export interface Wire {
  readonly name: string;
  /** Builds the body of the POST. Each history entry is serialized once per wire; later requests join the cached texts. */
  toRequest(request: ModelRequest, settings: WireSettings): string;
  /**
   * Creates a reader for the events of one streamed response, which must be passed in order. `hosted` are the tools of
   * the request: some of them report calls that the client answers.
   */
  reader(hosted?: readonly HostedToolSpec[]): WireReader;
  /** Converts a non-streamed response into chunks. */
  fromJson(body: unknown, hosted?: readonly HostedToolSpec[]): readonly Chunk[];
  /** Returns headers that depend on the request; lists are joined with the client's. */
  buildHeaders?(
    request: Pick<ModelRequest, "hosted" | "history">,
    model: string,
    body: string,
  ): Readonly<Record<string, string>>;
  /** Whether an error message reports that the request exceeds the context window. */
  isOverflow(message: string): boolean;
  /** Whether the API takes this part; otherwise the model gets a placeholder. Default: it takes every part. */
  acceptsMedia?(part: MediaPart): boolean;
}

/** Throws an `AgentError` for an error event in the stream, and `bad_chunk` for events it cannot parse. */
export interface WireReader {
  read(event: WireEvent): readonly Chunk[];
  /** Reads the events that a stream repeats without parsing each of them. Missing if all are parsed. */
  readonly repeated?: {
    readonly shapes: EventShapes;
    /** Does what `read` does with the parsed `value`, and adds to `chunks`. Keeps no object of `value`. */
    read(value: ShapedEvent["value"], event: string | undefined, chunks: Chunk[]): void;
  };
}

/** Returns the opaque data if it belongs to this wire, undefined if it belongs to another provider. */
export function getOwnData(wire: string, opaque: Json | undefined): Json | undefined {
  if (typeof opaque !== "object" || opaque === null || Array.isArray(opaque)) return undefined;
  const { wire: owner, data } = opaque as { readonly wire?: Json; readonly data?: Json };
  return owner === wire ? data : undefined;
}

/** Returns the id of a call as its server issued it, if this wire kept it because the common form differs. */
export function getOwnId(wire: string, opaque: Json | undefined): string | undefined {
  const data = getOwnData(wire, opaque);
  return isRecord(data) && typeof data.id === "string" ? data.id : undefined;
}

export function tagData(wire: string, data: Json): Json {
  return { wire, data };
}

/** Maps tool names to names that a wire accepts, and back. */
export type ToolNames = {
  /** Returns a name the provider accepts. Stable, and never the name of another tool. */
  encodeName(name: string): string;
  /** Same as `encodeName`, and remembers the mapping so that the model's calls can be decoded. */
  registerName(name: string): string;
  /** Returns the original name for a name received from the provider. */
  decodeName(encoded: string): string;
};

const maxNameLength = 64;
/** Matches names produced by `encodeName`. A tool whose real name matches is encoded too, so names cannot collide. */
const encodedName = /__[0-9a-z]{11}$/;

/**
 * `allowed` matches a valid name, `forbidden` a character to replace. The mapping is kept per process, because a
 * response reader does not see the request.
 */
export function createToolNames(allowed: RegExp, forbidden: RegExp): ToolNames {
  const originals = new Map<string, string>();
  const encodeName = (name: string): string => {
    if (allowed.test(name) && !encodedName.test(name)) return name;
    const readable = name.replace(forbidden, "_").replace(/^(?![A-Za-z_])/, "_");
    const ending = `__${hashShort(name)}`;
    return readable.slice(0, maxNameLength - ending.length) + ending;
  };
  return {
    encodeName,
    registerName(name) {
      const encoded = encodeName(name);
      if (encoded !== name) originals.set(encoded, name);
      return encoded;
    },
    decodeName: (name) => originals.get(name) ?? name,
  };
}

/** Returns an 11-character base-36 hash (53 bits, two multiplicative hashes). Not cryptographic. */
export function hashShort(text: string): string {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    low = Math.imul(low ^ text.charCodeAt(at), 2654435761);
    high = Math.imul(high ^ text.charCodeAt(at), 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return (4294967296 * (2097151 & high) + (low >>> 0)).toString(36).padStart(11, "0");
}

/** Whether the model has to call a tool. */
export function isForcedChoice(choice: ToolChoice): boolean {
  return choice === "required" || typeof choice === "object";
}

const emptyList: readonly unknown[] = [];

/** Returns the value if it is a list, else an empty list. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : emptyList;
}

/** Returns the objects of a list; empty if the value is not a list. */
export function filterRecords(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Returns the `required` names of a JSON Schema. */
export function getRequired(schema: JsonSchema | undefined): string[] {
  const required = schema?.required;
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** Creates the end of an answer. A reason without a word in our union keeps the provider's, for the error message. */
export function createFinish(reason: StopReason, detail: unknown): Chunk {
  return { type: "finish", reason, ...(reason === "other" && typeof detail === "string" && { detail }) };
}

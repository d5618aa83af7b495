import type { Json } from "../json.ts";
import type { Chunk, ModelRequest } from "../model.ts";

/** What a wire needs to know beside the request. */
export type WireSettings = {
  /** The model's name at the provider. */
  readonly model: string;
  readonly stream: boolean;
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** Fields for the body as they are, for what this library has no word for. */
  readonly extra?: { readonly [field: string]: Json } | undefined;
};

/** One server-sent event. */
export type WireEvent = { readonly event?: string | undefined; readonly data: string };

/**
 * How one provider's API is spoken: pure functions, no network, no clock. Opaque data that a wire gives in its chunks
 * is tagged with its `name`, so that it goes back unchanged to this provider and to no other.
 */
export interface Wire {
  readonly name: string;
  /** The body of the POST. Each entry of the history is written once per wire and then joined. */
  toRequest(request: ModelRequest, settings: WireSettings): string;
  /** Reads the events of one streamed answer, in order. */
  reader(): WireReader;
  /** The chunks of an answer that came whole. */
  fromJson(body: unknown): readonly Chunk[];
  /** Whether an error body says that the request was too long for the model. */
  isOverflow(message: string): boolean;
}

/** Throws an `AgentError` for an error inside the stream and for what it cannot read (`bad_chunk`). */
export interface WireReader {
  read(event: WireEvent): readonly Chunk[];
}

/** Opaque data of this wire; nothing when it is another provider's. */
export function ownData(wire: string, opaque: Json | undefined): Json | undefined {
  if (typeof opaque !== "object" || opaque === null || Array.isArray(opaque)) return undefined;
  const { wire: owner, data } = opaque as { readonly wire?: Json; readonly data?: Json };
  return owner === wire ? data : undefined;
}

export function tagged(wire: string, data: Json): Json {
  return { wire, data };
}

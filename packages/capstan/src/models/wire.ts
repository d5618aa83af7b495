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

/** The names of tools on a wire that does not allow every name. */
export type ToolNames = {
  /** A name as the provider allows it: the same every time, and never that of another tool. */
  sent(name: string): string;
  /** The same for a tool that is on offer, so that the model's calls find back to it. */
  offered(name: string): string;
  /** Whose name it is that came over the wire. */
  original(sent: string): string;
};

const longestName = 64;
/** The mark of a name that was made here; a tool that is really called so gets another, so that none can be taken for it. */
const made = /__[0-9a-z]{11}$/;

/** `allowed` describes a whole name, `forbidden` a character that is replaced. A reader sees no request, so this is kept by the process. */
export function toolNames(allowed: RegExp, forbidden: RegExp): ToolNames {
  const originals = new Map<string, string>();
  const sent = (name: string): string => {
    if (allowed.test(name) && !made.test(name)) return name;
    const readable = name.replace(forbidden, "_").replace(/^(?![A-Za-z_])/, "_");
    const ending = `__${shortHash(name)}`;
    return readable.slice(0, longestName - ending.length) + ending;
  };
  return {
    sent,
    offered(name) {
      const changed = sent(name);
      if (changed !== name) originals.set(changed, name);
      return changed;
    },
    original: (name) => originals.get(name) ?? name,
  };
}

/** Eleven letters and digits that differ for different texts: two multiplicative hashes, 53 bits. Not for secrets. */
export function shortHash(text: string): string {
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

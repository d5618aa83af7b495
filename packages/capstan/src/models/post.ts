import { postByFetch } from "./post-by-fetch.ts";
import { postByNode } from "./post-by-node.ts";

/** One request to a provider: always a POST of text. */
export type Posting = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
};

/** What came back, as soon as its headers are there. */
export type Reply = {
  readonly status: number;
  /** By its name in lower case. */
  header(name: string): string | undefined;
  /** Gives the body as it comes; `false` asks for no more. Rejects when it breaks off, and with what `onBytes` throws. */
  read(onBytes: (bytes: Uint8Array) => undefined | false): Promise<void>;
};

export type Post = (posting: Posting) => Promise<Reply>;

const nativeFetch = globalThis.fetch;

/**
 * On Node its own HTTP client, which costs a third of its `fetch` for each request (see bench/). Elsewhere, and where
 * somebody has put a `fetch` of their own in its place, that one.
 */
export function post(posting: Posting, fetch?: typeof globalThis.fetch): Promise<Reply> {
  // Looked up at each call, so that a global `fetch` replaced later is used.
  const chosen = fetch ?? (globalThis.fetch === nativeFetch ? undefined : globalThis.fetch);
  return chosen || !postByNode ? postByFetch(chosen ?? nativeFetch)(posting) : postByNode(posting);
}

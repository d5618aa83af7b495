import type { IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  type Gunzip,
  type Inflate,
} from "node:zlib";
import { refusal } from "./refusal.ts";

/** Codings that are read. */
export type Coding = "gzip" | "x-gzip" | "deflate" | "br";

const decoders: Readonly<Record<Coding, () => BrotliDecompress | Gunzip | Inflate>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/** The codings that a request may name as welcome. */
export const acceptedCodings = "gzip, br, deflate";

/** The one coding of a body, or none. Each further one would multiply what a few bytes can grow to. */
export function codingOf(response: IncomingMessage, host: string): Coding | undefined {
  const named = (response.headers["content-encoding"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  const [name] = named;
  if (name === undefined) return undefined;
  if (named.length > 1)
    throw refusal("coding", `${host} has compressed its answer ${named.length} times; once is allowed.`);
  if (!Object.hasOwn(decoders, name))
    throw refusal("coding", `${host} has compressed its answer in a way that was not asked for.`);
  return name as Coding;
}

/** What a body may grow to. */
export type BodyLimits = { readonly host: string; readonly maxBytes: number };

const maxRatio = 100;
/** Below this a high ratio is a plain page with much repetition. */
const ratioMattersFrom = 256_000;

/** The body, decompressed as it is read and never further than it may grow. The connection ends with it. */
export async function* readBody(
  response: IncomingMessage,
  coding: Coding | undefined,
  { host, maxBytes }: BodyLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = coding && decoders[coding]();
  // What fails is told to whoever reads the end of it.
  const source: Readable = decoder ? pipeline(response, decoder, () => undefined) : response;
  let total = 0;
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      total += chunk.length;
      if (total > maxBytes)
        throw refusal(
          "size",
          `The answer of ${host} is larger than ${maxBytes} bytes. Ask for a part of it.`,
        );
      if (decoder && total > ratioMattersFrom && total > decoder.bytesWritten * maxRatio)
        throw refusal(
          "size",
          `The answer of ${host} grows more than ${maxRatio} times when it is decompressed.`,
        );
      yield chunk;
    }
  } finally {
    response.destroy();
  }
}

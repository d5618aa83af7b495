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
import { createGuardRefusal } from "./guard-errors.ts";

export type Coding = "gzip" | "x-gzip" | "deflate" | "br";

const decoders: Readonly<Record<Coding, () => BrotliDecompress | Gunzip | Inflate>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/** For the `Accept-Encoding` header. */
export const acceptedCodings = "gzip, br, deflate";

/** At most one coding: each further one multiplies how much a few bytes can expand. */
export function parseCoding(response: IncomingMessage, host: string): Coding | undefined {
  const codings = (response.headers["content-encoding"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  const [name] = codings;
  if (name === undefined) return undefined;
  if (codings.length > 1)
    throw createGuardRefusal(
      "coding",
      `${host} compressed its response ${codings.length} times; only one coding is allowed.`,
    );
  if (!Object.hasOwn(decoders, name))
    throw createGuardRefusal("coding", `${host} used a compression that was not requested.`);
  return name as Coding;
}

export type BodyLimits = { readonly host: string; readonly maxBytes: number };

const maxRatio = 100;
/** Small pages may have a high ratio if they are repetitive. */
const ratioCheckBytes = 256_000;

/** Decompresses the body while reading, within the limits. Closes the connection at the end. */
export async function* readBody(
  response: IncomingMessage,
  coding: Coding | undefined,
  { host, maxBytes }: BodyLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = coding && decoders[coding]();
  // Errors reach the reader of `source`.
  const source: Readable = decoder ? pipeline(response, decoder, () => undefined) : response;
  let total = 0;
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      total += chunk.length;
      if (total > maxBytes)
        throw createGuardRefusal(
          "size",
          `The response of ${host} is larger than ${maxBytes} bytes. Request a part of it.`,
        );
      if (decoder && total > ratioCheckBytes && total > decoder.bytesWritten * maxRatio)
        throw createGuardRefusal(
          "size",
          `The response of ${host} expands more than ${maxRatio} times when decompressed.`,
        );
      yield chunk;
    }
  } finally {
    response.destroy();
  }
}

import { AgentError } from "capstan";
import { createNotJsonError, isJsonType } from "./guard.ts";
import { parseJson } from "./parse-json.ts";

export type BodyLimits = { readonly maxBytes?: number; readonly timeoutMs?: number };

const defaultMaxBytes = 4 * 1024 * 1024;
const defaultTimeoutMs = 30_000;

/**
 * Reads the JSON body of a request, undefined without a body. Throws `unsupported_media_type`, `body_too_large`,
 * `request_timeout` or `invalid_input`. A body whose content-length is too large is not read.
 */
export async function readJsonBody(request: Request, limits: BodyLimits = {}): Promise<unknown> {
  const bytes = await readJsonBytes(request, limits);
  return bytes.length === 0 ? undefined : parseJsonBytes(bytes);
}

/** Like `readJsonBody`, but returns the bytes as they were sent: a signature covers them. */
export async function readJsonBytes(request: Request, limits: BodyLimits = {}): Promise<Uint8Array> {
  const { maxBytes = defaultMaxBytes, timeoutMs = defaultTimeoutMs } = limits;
  const { headers } = request;
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity")
    throw new AgentError(
      "unsupported_media_type",
      "Content-Encoding is not supported. Send the body uncompressed.",
    );
  const length = headers.get("content-length");
  if (length !== null && Number(length) > maxBytes) throw createTooLargeError(maxBytes);
  const type = headers.get("content-type");
  if (type !== null && !isJsonType(type)) throw createNotJsonError();
  const bytes = await collectBytes(request, { maxBytes, timeoutMs });
  if (bytes.length > 0 && type === null) throw createNotJsonError();
  return bytes;
}

/** Parses untrusted JSON in UTF-8. Throws `invalid_input`. */
export function parseJsonBytes(bytes: Uint8Array): unknown {
  return parseJson(decodeUtf8(bytes));
}

async function collectBytes(request: Request, limits: Required<BodyLimits>): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(createTimeoutError(limits.timeoutMs)), limits.timeoutMs);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read().catch(throwAborted), late.promise]);
      if (done) return Buffer.concat(chunks, size);
      size += value.byteLength;
      if (size > limits.maxBytes) throw createTooLargeError(limits.maxBytes);
      chunks.push(value);
    }
  } catch (thrown) {
    // Not awaited: cancelling may wait for the client and must not delay the response.
    reader.cancel().catch(() => undefined);
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new AgentError("invalid_input", "The body is not valid UTF-8.");
  }
}

function throwAborted(): never {
  throw new AgentError("aborted", "The connection closed before the body was complete.");
}

function createTooLargeError(maxBytes: number): AgentError {
  return new AgentError("body_too_large", `The body exceeds the limit of ${maxBytes} bytes.`);
}

function createTimeoutError(timeoutMs: number): AgentError {
  return new AgentError("request_timeout", `The body was not received within ${timeoutMs / 1000} seconds.`);
}

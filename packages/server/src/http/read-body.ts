import { AgentError } from "capstan";
import { isJson, notJson } from "./guard.ts";
import { parseJson } from "./parse-json.ts";

/** How much a body may be, and how long it may take. */
export type BodyLimits = { readonly mostBytes?: number; readonly timeoutMs?: number };

const fourMebibytes = 4 * 1024 * 1024;
const halfAMinute = 30_000;

/**
 * The JSON of a request, undefined when it has no body. Throws `unsupported_media_type`, `body_too_large`,
 * `request_timeout` or `invalid_input`. A body that says that it is too large is not read at all.
 */
export async function readBody(request: Request, limits: BodyLimits = {}): Promise<unknown> {
  const { mostBytes = fourMebibytes, timeoutMs = halfAMinute } = limits;
  const { headers } = request;
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity")
    throw new AgentError("unsupported_media_type", "Send the body as it is, without a content-encoding.");
  const length = headers.get("content-length");
  if (length !== null && Number(length) > mostBytes) throw tooLarge(mostBytes);
  const type = headers.get("content-type");
  if (type !== null && !isJson(type)) throw notJson();
  const bytes = await readBytes(request, { mostBytes, timeoutMs });
  if (bytes.length === 0) return undefined;
  if (type === null) throw notJson();
  return parseJson(decoded(bytes));
}

async function readBytes(request: Request, limits: Required<BodyLimits>): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow(limits.timeoutMs)), limits.timeoutMs);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read().catch(cutOff), late.promise]);
      if (done) return Buffer.concat(chunks, size);
      size += value.byteLength;
      if (size > limits.mostBytes) throw tooLarge(limits.mostBytes);
      chunks.push(value);
    }
  } catch (thrown) {
    // It may wait for the other side, which must not keep the answer.
    reader.cancel().catch(() => undefined);
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new AgentError("invalid_input", "The body is not UTF-8.");
  }
}

function cutOff(): never {
  throw new AgentError("aborted", "The connection ended before the body did.");
}

function tooLarge(mostBytes: number): AgentError {
  return new AgentError("body_too_large", `A body has at most ${mostBytes} bytes.`);
}

function tooSlow(timeoutMs: number): AgentError {
  return new AgentError("request_timeout", `A body must be here within ${timeoutMs / 1000} seconds.`);
}

import { AgentError, type ErrorCode } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { HostedToolSpec } from "../../kernel/hosted-tool.ts";
import type { Chunk } from "../../kernel/model.ts";
import { maskKeys } from "../http-failure.ts";
import type { ResponseReader } from "../stream-reader.ts";
import type { Wire } from "../wire.ts";
import { createEventStreamDecoder, type EventStreamMessage } from "./event-stream.ts";

/**
 * Creates a reader for a streamed response of Bedrock. The payload of a message is JSON: an event of the model as
 * `{"bytes": "<base64>"}`, or an exception with its `message`, named by the header `:exception-type`.
 */
export function createBedrockReader(wire: Wire, hosted?: readonly HostedToolSpec[]): ResponseReader {
  const events = wire.reader(hosted);
  const decoder = createEventStreamDecoder();
  return {
    read(bytes) {
      const batch: Chunk[] = [];
      for (const message of decoder.decode(bytes)) {
        const data = readEventData(message, wire);
        if (data !== undefined) for (const chunk of events.read({ data })) batch.push(chunk);
      }
      return batch;
    },
    end() {
      decoder.end();
      return [];
    },
  };
}

/** Returns the event in a message, undefined for another kind of message. Throws the error that a message reports. */
function readEventData({ headers, payload }: EventStreamMessage, wire: Wire): string | undefined {
  const type = headers.get(":message-type");
  const text = new TextDecoder().decode(payload);
  if (type === "exception" || type === "error")
    throw toExceptionError(
      headers.get(":exception-type") ?? headers.get(":error-code") ?? "exception",
      headers.get(":error-message") ?? text,
      wire,
    );
  if (type !== "event" || headers.get(":event-type") !== "chunk") return undefined;
  try {
    const body: unknown = JSON.parse(text);
    if (isRecord(body) && typeof body.bytes === "string") return decodeFrameBody(body.bytes);
  } catch (cause) {
    throw new AgentError("bad_chunk", "A message of the response is not JSON with base64.", { cause });
  }
  throw new AgentError("bad_chunk", "A message of the response has no bytes.");
}

function decodeFrameBody(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
}

const exceptionCodes: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ["throttling", "model_rate_limited"],
  ["servicequotaexceeded", "model_rate_limited"],
  ["internalserver", "model_overloaded"],
  ["serviceunavailable", "model_overloaded"],
  ["modelnotready", "model_overloaded"],
  ["modeltimeout", "model_timeout"],
  ["accessdenied", "model_auth"],
  ["expiredtoken", "model_auth"],
  ["resourcenotfound", "model_not_found"],
  ["validation", "model_rejected"],
]);

function toExceptionError(type: string, text: string, wire: Wire): AgentError {
  const message = maskKeys(parseMessageField(text)).slice(0, 500).toWellFormed();
  const code = exceptionCodes.get(type.toLowerCase().replace(/exception$/, "")) ?? "model_failed";
  const isOverflow = code === "model_rejected" && wire.isOverflow(message);
  return new AgentError(
    isOverflow ? "context_overflow" : code,
    `The model's response failed with ${type}: ${message}`,
  );
}

function parseMessageField(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) && typeof body.message === "string" ? body.message : text;
  } catch {
    return text;
  }
}

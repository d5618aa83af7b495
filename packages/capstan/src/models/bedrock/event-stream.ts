/*
 * The binary framing of streamed responses from AWS (`application/vnd.amazon.eventstream`). A message is
 *   total length (4 bytes) · length of the headers (4) · CRC-32 of these 8 bytes (4) · headers · payload · CRC-32 of
 *   everything before it (4)
 * in network byte order. A header is the length of its name (1), the name, a type (1) and a value, whose length follows
 * from the type or is in its first 2 bytes.
 */
import { AgentError } from "../../base/errors.ts";
import { maxEventLength } from "../stream-reader.ts";

/** One message. Only headers with texts are kept. */
export type EventStreamMessage = {
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: Uint8Array;
};

export type EventStreamDecoder = {
  /** Returns the messages that these bytes complete. Throws `bad_chunk` for damaged ones. */
  decode(bytes: Uint8Array): readonly EventStreamMessage[];
  /** Throws `stream_truncated` if the last message is incomplete. */
  end(): void;
};

const preludeLength = 12;
const checksumLength = 4;

export function createEventStreamDecoder(): EventStreamDecoder {
  let buffer = new Uint8Array(4096);
  let length = 0;

  function append(bytes: Uint8Array): void {
    if (length + bytes.length > buffer.length) {
      const grown = new Uint8Array(Math.max(buffer.length * 2, length + bytes.length));
      grown.set(buffer.subarray(0, length));
      buffer = grown;
    }
    buffer.set(bytes, length);
    length += bytes.length;
  }
  return {
    decode(bytes) {
      append(bytes);
      const messages: EventStreamMessage[] = [];
      let start = 0;
      while (length - start >= preludeLength) {
        const total = readTotalLength(buffer.subarray(start, start + preludeLength));
        if (length - start < total) break;
        // Copied, because the buffer is reused.
        messages.push(parseMessage(buffer.slice(start, start + total)));
        start += total;
      }
      buffer.copyWithin(0, start, length);
      length -= start;
      return messages;
    },
    end() {
      if (length > 0)
        throw new AgentError("stream_truncated", "The model's response ended within a message.");
    },
  };
}

function readTotalLength(prelude: Uint8Array): number {
  const view = toView(prelude);
  if (view.getUint32(8) !== computeCrc32(prelude.subarray(0, 8)))
    throw createDamageError("the checksum of its length does not match");
  const [total, headersLength] = [view.getUint32(0), view.getUint32(4)];
  if (total > maxEventLength)
    throw new AgentError("chunk_too_large", "A message of the response is larger than 8 MB.");
  if (total < preludeLength + headersLength + checksumLength)
    throw createDamageError("it is shorter than its headers");
  return total;
}

function parseMessage(message: Uint8Array): EventStreamMessage {
  const view = toView(message);
  const end = message.length - checksumLength;
  if (view.getUint32(end) !== computeCrc32(message.subarray(0, end)))
    throw createDamageError("its checksum does not match");
  const headersEnd = preludeLength + view.getUint32(4);
  return {
    headers: parseHeaders(message.subarray(preludeLength, headersEnd)),
    payload: message.subarray(headersEnd, end),
  };
}

/** Lengths of the values by type; undefined if the value starts with its length. */
const valueLengths: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];
const textType = 7;

function parseHeaders(bytes: Uint8Array): Map<string, string> {
  const view = toView(bytes);
  const decoder = new TextDecoder();
  const headers = new Map<string, string>();
  let at = 0;
  const take = (count: number): Uint8Array => {
    if (at + count > bytes.length) throw createDamageError("a header is incomplete");
    at += count;
    return bytes.subarray(at - count, at);
  };
  while (at < bytes.length) {
    const name = decoder.decode(take(take(1)[0] ?? 0));
    const type = take(1)[0] ?? 0;
    if (type >= valueLengths.length) throw createDamageError(`a header has the unknown type ${type}`);
    const fixed = valueLengths[type];
    if (fixed === undefined) take(2);
    const value = take(fixed ?? view.getUint16(at - 2));
    if (type === textType) headers.set(name, decoder.decode(value));
  }
  return headers;
}

const toView = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

const createDamageError = (problem: string): AgentError =>
  new AgentError("bad_chunk", `A message of the response is damaged: ${problem}.`);

let crcTable: Uint32Array | undefined;

/** CRC-32 as in gzip and PNG. */
export function computeCrc32(bytes: Uint8Array): number {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (crcTable[(crc ^ byte) & 0xff] ?? 0);
  return ~crc >>> 0;
}

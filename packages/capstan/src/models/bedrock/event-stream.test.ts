import { crc32 } from "node:zlib";
import { EventStreamCodec } from "@smithy/core/event-streams";
import type { MessageHeaders, MessageHeaderValue } from "@smithy/types";
import {
  array,
  assert,
  boolean,
  constant,
  dictionary,
  integer,
  nat,
  oneof,
  property,
  record,
  string,
  uint8Array,
  uuid,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { AgentError } from "../../base/errors.ts";
import { computeCrc32, createEventStreamDecoder, type EventStreamMessage } from "./event-stream.ts";

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)),
  (text) => new TextEncoder().encode(text),
);

const headerValue = oneof(
  boolean().map((value): MessageHeaderValue => ({ type: "boolean", value })),
  integer({ min: -128, max: 127 }).map((value): MessageHeaderValue => ({ type: "byte", value })),
  integer({ min: -32_768, max: 32_767 }).map((value): MessageHeaderValue => ({ type: "short", value })),
  integer().map((value): MessageHeaderValue => ({ type: "integer", value })),
  nat().map((ms): MessageHeaderValue => ({ type: "timestamp", value: new Date(ms) })),
  uint8Array({ maxLength: 40 }).map((value): MessageHeaderValue => ({ type: "binary", value })),
  string({ unit: "grapheme", maxLength: 40 }).map((value): MessageHeaderValue => ({ type: "string", value })),
  uuid().map((value): MessageHeaderValue => ({ type: "uuid", value })),
);
const message = record({
  headers: dictionary(string({ unit: "grapheme", minLength: 1, maxLength: 20 }), headerValue, {
    maxKeys: 6,
    noNullPrototype: true,
  }).filter((headers) => Object.keys(headers).every((name) => name.isWellFormed())),
  body: oneof(constant(new Uint8Array()), uint8Array({ maxLength: 300 })),
});

/** Cuts bytes at positions given as shares of their length. */
function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

function decodeAll(pieces: readonly Uint8Array[]): EventStreamMessage[] {
  const decoder = createEventStreamDecoder();
  const messages = pieces.flatMap((piece) => decoder.decode(piece));
  decoder.end();
  return messages;
}

const getTexts = (headers: MessageHeaders) =>
  new Map(
    Object.entries(headers).flatMap(([name, { type, value }]) => (type === "string" ? [[name, value]] : [])),
  );

const fromHex = (hex: string) => new Uint8Array(Buffer.from(hex.replaceAll(" ", ""), "hex"));

describe("a decoder of AWS event streams", () => {
  it("reads the published messages", () => {
    expect(decodeAll([fromHex("00000010 00000000 05c248eb 7d98c8ff")])).toEqual([
      { headers: new Map(), payload: new Uint8Array() },
    ]);
    const [plain] = decodeAll([fromHex("0000001d 00000000 fd528c5a 7b27666f6f273a27626172277d c3653936")]);
    expect(new TextDecoder().decode(plain?.payload)).toBe("{'foo':'bar'}");
  });

  it("reads what AWS's own encoder writes, however the bytes are split", () => {
    assert(
      property(array(message, { maxLength: 5 }), array(nat(), { maxLength: 12 }), (messages, cuts) => {
        const encoded = messages.map(({ headers, body }) => codec.encode({ headers, body }));
        const bytes = new Uint8Array(Buffer.concat(encoded));
        const decoded = decodeAll(split(bytes, cuts));
        expect(decoded).toEqual(
          messages.map(({ headers, body }) => ({ headers: getTexts(headers), payload: body })),
        );
      }),
    );
  });

  it("reads a stream byte by byte, and a message larger than its first buffer", () => {
    const headers: MessageHeaders = { ":message-type": { type: "string", value: "event" } };
    const body = new TextEncoder().encode("é".repeat(5000));
    const bytes = codec.encode({ headers, body });
    const decoded = decodeAll(Array.from(bytes, (byte) => Uint8Array.of(byte)));
    expect(decoded).toEqual([{ headers: new Map([[":message-type", "event"]]), payload: body }]);
  });

  it("refuses every stream with a changed byte, by name", () => {
    assert(
      property(message, nat(), integer({ min: 1, max: 255 }), ({ headers, body }, position, change) => {
        const bytes = codec.encode({ headers, body });
        const at = position % bytes.length;
        bytes[at] = (bytes[at] ?? 0) ^ change;
        expect(() => decodeAll([bytes])).toThrow(expect.objectContaining({ code: "bad_chunk" }));
      }),
    );
  });

  it("refuses a stream that ends within a message", () => {
    assert(
      property(message, nat(), ({ headers, body }, position) => {
        const bytes = codec.encode({ headers, body });
        const cut = bytes.subarray(0, 1 + (position % (bytes.length - 1)));
        expect(() => decodeAll([cut])).toThrow(expect.objectContaining({ code: "stream_truncated" }));
      }),
    );
  });

  const frame = (total: number, headersLength: number, rest: Uint8Array) => {
    const bytes = Buffer.alloc(12 + rest.length + 4);
    bytes.writeUInt32BE(total, 0);
    bytes.writeUInt32BE(headersLength, 4);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
    bytes.set(rest, 12);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
    return new Uint8Array(bytes);
  };

  it.each([
    ["a total that is too small", frame(15, 0, new Uint8Array()), "bad_chunk"],
    ["headers longer than the message", frame(17, 2, Uint8Array.of(0)), "bad_chunk"],
    ["a total of more than 8 MB", frame(9_000_000, 0, new Uint8Array()), "chunk_too_large"],
    ["a header of an unknown type", frame(19, 3, Uint8Array.of(1, 97, 10)), "bad_chunk"],
    ["a header that ends within its name", frame(18, 2, Uint8Array.of(9, 97)), "bad_chunk"],
    ["a header that ends within its value", frame(21, 5, Uint8Array.of(1, 97, 7, 0, 9)), "bad_chunk"],
  ])("refuses valid checksums over %s", (_name, bytes, code) => {
    expect(() => decodeAll([bytes])).toThrow(expect.objectContaining({ code, constructor: AgentError }));
  });

  it("computes the CRC-32 of zlib", () => {
    assert(property(uint8Array(), (bytes) => computeCrc32(bytes) === crc32(bytes)));
  });
});

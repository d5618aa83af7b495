import { array, assert, nat, property, string, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineSplitter } from "./line-splitter.ts";

/** The bytes in pieces, cut at these places. */
function splitAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((from, index) => bytes.subarray(from, sorted[index] ?? bytes.length));
}

function splitAll(bytes: Buffer, places: readonly number[], limit = 1_000_000): string[] {
  const cut = createLineSplitter(limit);
  return splitAt(bytes, places).flatMap((piece) => cut(piece));
}

describe("lines of a stream", () => {
  it("are the same for any chunks, also within a character", () => {
    assert(
      property(array(string({ unit: "binary" }), { maxLength: 8 }), array(nat()), (texts, places) => {
        const sent = texts.map((text) => text.replaceAll("\n", " "));
        const bytes = Buffer.from(sent.map((text) => `${text}\n`).join(""), "utf8");
        expect(splitAll(bytes, places)).toEqual(sent);
      }),
      { numRuns: 50 },
    );
  });

  it("are the same for bytes that are not text", () => {
    assert(
      property(uint8Array(), array(nat()), (bytes, places) => {
        expect(splitAll(Buffer.from(bytes), places)).toEqual(splitAll(Buffer.from(bytes), []));
      }),
    );
  });

  it("wait for their end", () => {
    const cut = createLineSplitter(100);
    expect(cut(Buffer.from("one\ntw"))).toEqual(["one"]);
    expect(cut(Buffer.from("o\n\n"))).toEqual(["two", ""]);
  });

  it("that are too long throw before they end, for any chunks (F61)", () => {
    assert(
      property(nat(40), nat(40), array(nat()), (before, beyond, places) => {
        const long = `${"a".repeat(before)}\n${"b".repeat(51 + beyond)}`;
        expect(() => splitAll(Buffer.from(long), places, 50)).toThrow("longer than 50 bytes");
        const fits = `${"a".repeat(before)}\n${"b".repeat(50)}\nend\n`;
        expect(splitAll(Buffer.from(fits), places, 50)).toHaveLength(3);
      }),
    );
  });

  it("that are too long throw even if the chunk contains their end", () => {
    expect(() => splitAll(Buffer.from(`${"b".repeat(51)}\n`), [], 50)).toThrow("longer than 50 bytes");
  });

  it("are read again after a line that was too long (F61)", () => {
    const cut = createLineSplitter(10);
    expect(() => cut(Buffer.from("x".repeat(11)))).toThrow("longer");
    expect(cut(Buffer.from("xx\nnext\n")).at(-1)).toBe("next");
    expect(cut(Buffer.from("short"))).toEqual([]);
  });
});

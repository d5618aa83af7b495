import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../base/json.ts";
import { formatReadHint } from "../read-result.ts";
import { truncateJson } from "./truncate-outcome.ts";
import { truncateText } from "./truncate-text.ts";

const text = fc.string({ unit: "binary", maxLength: 400 });
const limit = fc.integer({ min: 0, max: 300 });
const readHint = formatReadHint({ handle: "blob_1" });
const hint = fc.option(fc.constantFrom(readHint, formatReadHint({ handle: 'a"b' })), { nil: undefined });

describe("a truncated text", () => {
  it("is never longer than the limit, and unchanged when it fits (F47)", () => {
    fc.assert(
      fc.property(text, limit, hint, (text, limit, hint) => {
        const cut = truncateText(text, limit, hint);
        expect(cut.length).toBeLessThanOrEqual(limit);
        if (text.length <= limit) expect(cut).toBe(text);
      }),
    );
  });

  it("has its beginning, the number of missing characters and its end, without splitting a pair (F47)", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 301 }),
        fc.integer({ min: 40, max: 300 }),
        (text, limit) => {
          const cut = truncateText(text, limit);
          const [, head = "", missing = "", tail = ""] =
            /^(.*)\n… \(([\d,]+) characters left out\) …\n(.*)$/s.exec(cut) ?? [];
          expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
          expect(head.length + Number(missing.replace(",", "")) + tail.length).toBe(text.length);
          expect(cut.isWellFormed()).toBe(true);
          expect(limit - cut.length).toBeLessThanOrEqual(4);
        },
      ),
    );
  });

  it("says how to read the rest (F47, C-22)", () => {
    const cut = truncateText(`A${"x".repeat(100_000)}Z`, 200, readHint);
    expect(cut).toMatch(
      /^Ax+\n… \(99,\d{3} characters left out; read_result \{ "handle": "blob_1" \} has all of it\) …\nx+Z$/,
    );
  });

  it("drops the hint, and then everything but its beginning, when the limit is too small", () => {
    const long = "x".repeat(1000);
    expect(truncateText(long, 60, readHint)).toMatch(/^x+\n… \(9\d\d characters left out\) …\nx+$/);
    expect(truncateText(long, 5, readHint)).toBe("xxxx…");
    expect(truncateText("😀😀", 2)).toBe("…");
    expect(truncateText(long, 0)).toBe("");
    expect(truncateText(long, -1)).toBe("");
    expect(truncateText(long, Number.NaN)).toBe("");
  });
});

describe("truncated JSON", () => {
  it("is valid and never longer than the limit; when it fits, it equals JSON.stringify (S2-30)", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), limit, hint, (value, limit, hint) => {
        const { text, cut } = truncateJson(value as Json, limit, hint);
        expect(() => JSON.parse(text)).not.toThrow();
        expect(text.length).toBeLessThanOrEqual(Math.max(limit, 1));
        const whole = JSON.stringify(value);
        if (whole.length <= limit) expect({ text, cut }).toEqual({ text: whole, cut: false });
      }),
      { numRuns: 1000 },
    );
  });

  it("is valid at every size from 0 to 300 (S2-30)", () => {
    const value = {
      rows: [{ id: 1, text: "a\u0000😀".repeat(30) }, [[], {}, [1, 2, 3]]],
      "…": 1,
      total: 1e21,
    };
    for (let limit = 0; limit <= 300; limit += 1) {
      const { text } = truncateJson(value, limit, readHint);
      expect(() => JSON.parse(text)).not.toThrow();
      expect(text.length).toBeLessThanOrEqual(Math.max(limit, 1));
    }
  });

  it.each([
    [0, "0"],
    [1, "0"],
    [2, '""'],
    [3, '""'],
    [4, "null"],
    [20, "null"],
  ])("with a limit of %i characters is %s, without a truncation mark", (limit, text) => {
    expect(truncateJson([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], limit, readHint)).toEqual({
      text,
      cut: true,
    });
  });

  const rows = Array.from({ length: 1000 }, (_, id) => ({ id, name: `Row ${id}` }));

  it("shows the beginning of an array, says how much that is, and names the handle (S2-29, S2-30, C-22)", () => {
    const { text, cut } = truncateJson(rows, 4000, readHint);
    const shown = JSON.parse(text);
    expect(cut).toBe(true);
    expect(text.length).toBeGreaterThan(3900);
    expect(shown.slice(0, -2)).toEqual(rows.slice(0, shown.length - 2));
    expect(shown.at(-1)).toBe(
      `… ${shown.length - 1} of 1,000 items shown; read_result { "handle": "blob_1" } has all of it`,
    );
  });

  it("notes in each object, array and text how much is missing, and names the handle once at the top level (S2-30)", () => {
    const value = { message: "Found", data: { rows, total: 1000 } };
    const { text } = truncateJson(value, 300, readHint);
    expect(JSON.parse(text)).toEqual({
      message: "Found",
      data: {
        rows: [...rows.slice(0, 3), { id: 3, "…": "1 of 2 keys shown" }, "… 4 of 1,000 items shown"],
        "…": "1 of 2 keys shown",
      },
      "…": 'read_result { "handle": "blob_1" } has all of it',
    });
    expect(text.match(/blob_1/g)).toHaveLength(1);
  });

  it("says how much of a text is missing (S2-30)", () => {
    expect(JSON.parse(truncateJson("x".repeat(5000), 100, readHint).text)).toMatch(
      /^x+… \(4,\d{3} more characters; read_result \{ "handle": "blob_1" \} has all of it\)$/,
    );
    expect(JSON.parse(truncateJson("x".repeat(5000), 100).text)).toMatch(/^x+… \(4,\d{3} more characters\)$/);
  });

  it("is deterministic", () => {
    expect(truncateJson(rows, 777, readHint)).toEqual(truncateJson(rows, 777, readHint));
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeInvisible, formatInput } from "./escape-text.ts";

describe("escapeInvisible", () => {
  it.each([
    ["a zero-width space", "pay\u200bpal", "pay\\u{200b}pal"],
    ["a right-to-left override", "\u202egpj.exe", "\\u{202e}gpj.exe"],
    ["tag characters, which hide instructions", "hi\u{e0073}\u{e0065}", "hi\\u{e0073}\\u{e0065}"],
    ["a variation selector", "a\ufe0f\u{e0101}", "a\\u{fe0f}\\u{e0101}"],
    ["an escape sequence", "\u001b[31mred", "\\u{1b}[31mred"],
    ["a soft hyphen and a filler", "a\u00adb\u3164", "a\\u{ad}b\\u{3164}"],
    ["a line break and a tab", "a\nb\tc", "a\\u{a}b\\u{9}c"],
    ["a lone surrogate", "a\ud800b", "a\\u{d800}b"],
    ["an unusual space", "a\u00a0b\u2003c", "a\\u{a0}b\\u{2003}c"],
    ["nothing in visible text", "Grüße, 世界 😀 a b", "Grüße, 世界 😀 a b"],
  ])("escapes %s (A107)", (_what, text, shown) => {
    expect(escapeInvisible(text)).toBe(shown);
  });

  it("leaves no invisible character in any text (A107)", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(escapeInvisible(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});

describe("formatInput", () => {
  it("formats JSON on separate lines, with invisible characters escaped", () => {
    expect(formatInput({ to: "a\u200b@b.c", cc: [] })).toBe('{\n  "to": "a\\u{200b}@b.c",\n  "cc": []\n}');
  });

  it("says how many characters are omitted", () => {
    expect(formatInput({ text: "x".repeat(10_000) })).toMatch(/… and \d{4} more characters$/);
  });
});

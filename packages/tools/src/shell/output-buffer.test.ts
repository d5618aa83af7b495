import { expect, it } from "vitest";
import { createOutputBuffer } from "./output-buffer.ts";

function collect(text: string, maxBytes: number, chunkSize: number) {
  const buffer = createOutputBuffer(maxBytes);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkSize) buffer.add(bytes.subarray(at, at + chunkSize));
  return buffer.finish();
}

it("any split into chunks gives the same text, and a cut never splits a character", () => {
  const text = "aäå€𝄞é".repeat(50);
  for (const maxBytes of [40, 41, 42, 43, 1000]) {
    const results = [1, 2, 3, 7, 1000].map((size) => collect(text, maxBytes, size));
    expect(new Set(results.map((result) => result.text)).size).toBe(1);
    const [{ text: shown = "", isTruncated = false } = {}] = results;
    expect(shown).not.toContain("\ufffd");
    expect(isTruncated).toBe(maxBytes < 1000);
    if (!isTruncated) expect(shown).toBe(text);
    else expect(shown).toMatch(/^aä.*\n\[… \d+ bytes omitted …\]\n.*é$/);
  }
});

it("an output with NUL bytes is binary, wherever they are", () => {
  expect(collect("text\0", 100, 2).isBinary).toBe(true);
  expect(collect(`${"x".repeat(500)}\0`, 100, 50)).toMatchObject({ isBinary: true, bytes: 501 });
});

it("invalid UTF-8 is replaced, not dropped", () => {
  const buffer = createOutputBuffer(100);
  buffer.add(Buffer.from("caf\u00e9", "latin1"));
  expect(buffer.finish().text).toBe("caf\ufffd");
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatJsonLine } from "./format-json.ts";
import { formatOutput } from "./format-output.ts";

const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0x2fff }).map((code) => String.fromCharCode(code)),
});

describe("a line of JSON", () => {
  it("is one line for every reader, and says the same", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const line = formatJsonLine({ text });
        expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(JSON.parse(line)).toEqual({ text });
      }),
    );
  });
});

describe("a plain text", () => {
  it("has no controls but lines and tabs, and keeps everything else", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(formatOutput(`${text}\u001b[2J`, {})).not.toMatch(/(?![\n\t])\p{Cc}/u);
      }),
    );
    expect(formatOutput("Größe:\t1\r\n👩‍🚀 עברית", {})).toBe("Größe:\t1\n👩‍🚀 עברית");
  });
});

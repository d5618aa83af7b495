import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createKeyReader, type Key } from "./keys.ts";

function keysOf(...pieces: (string | Uint8Array)[]): string[] {
  vi.useFakeTimers();
  const heard: Key[] = [];
  const reader = createKeyReader((key) => heard.push(key));
  for (const piece of pieces) reader.feed(Buffer.from(piece as string));
  vi.advanceTimersByTime(100);
  reader.close();
  vi.useRealTimers();
  return heard.map((key) => (key.type === "press" ? key.name : `${key.type}:${key.text}`));
}

describe("the keys of a terminal", () => {
  it.each([
    ["é漢👍", ["text:é漢👍"]],
    ["\r", ["enter"]],
    ["\r\n", ["enter"]],
    ["\n", ["ctrl+j"]],
    ["\x1b\r", ["alt+enter"]],
    ["\x1b[13;2u", ["shift+enter"]],
    ["\x1b[27;2;13~", ["shift+enter"]],
    ["\x1b[99;5u", ["ctrl+c"]],
    ["\x03", ["ctrl+c"]],
    ["\x1b[A\x1bOB\x1b[1;5C\x1b[1;3D", ["up", "down", "ctrl+right", "alt+left"]],
    ["\x1b[3~\x1b[H\x1b[F\x1b[Z", ["delete", "home", "end", "shift+tab"]],
    ["\x1b", ["escape"]],
    ["\x1b\x1b", ["escape", "escape"]],
    ["\x1bb\x7f", ["alt+b", "backspace"]],
    ["\x1b[200~a\r\nb\x1b[201~c", ["paste:a\nb", "text:c"]],
    ["\x1b[?62;c", []],
  ])("%j is %j", (bytes, keys) => {
    expect(keysOf(bytes)).toEqual(keys);
  });

  it("are the same however the bytes are cut", () => {
    const bytes = Buffer.from("hé👍\x1b[1;5C\x1b[200~pasted\r\n\x1b[31m漢\x1b[201~\r\n\x1b[13;2u\x03z");
    const whole = keysOf(bytes)
      .join(" ")
      .replace(/ ?text:/g, "");
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 })), (places) => {
        const cuts = [0, ...places.toSorted((a, b) => a - b), bytes.length];
        const pieces = cuts.slice(1).map((end, n) => bytes.subarray(cuts[n], end));
        expect(
          keysOf(...pieces)
            .join(" ")
            .replace(/ ?text:/g, ""),
        ).toBe(whole);
      }),
    );
  });

  it("a lone Esc is reported after a delay, not as the beginning of the next sequence", () => {
    expect(keysOf("\x1b[", "A")).toEqual(["up"]);
    expect(keysOf("\x1b")).toEqual(["escape"]);
  });
});

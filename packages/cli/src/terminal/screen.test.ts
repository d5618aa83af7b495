import headless from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createScreen } from "./screen.ts";

function shownBy(columns: number, rows: number) {
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 1000 });
  let written = "";
  const screen = createScreen({
    write: (text) => {
      written += text;
    },
    getSize: () => ({ columns, rows }),
  });
  const text = async () => {
    const now = written;
    written = "";
    await new Promise<void>((resolve) => terminal.write(now, resolve));
    const buffer = terminal.buffer.active;
    const lines = Array.from(
      { length: buffer.baseY + rows },
      (_, n) => buffer.getLine(n)?.translateToString(true) ?? "",
    );
    return lines.join("\n").trimEnd();
  };
  return { screen, text, terminal };
}

const line = fc.constantFrom("", "a", "some words", "日本語", "e\u0301e\u0301", "x".repeat(20));

describe("the screen", () => {
  it("shows the printed lines, and below them the last region, in every sequence of updates", async () => {
    const step = fc.record({
      printed: fc.array(line, { maxLength: 3 }),
      region: fc.array(line, { minLength: 1, maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const { screen, text } = shownBy(20, 8);
        for (const { printed, region } of steps) {
          if (printed.length > 0) screen.print(printed, { rows: region });
          screen.draw({ rows: region, cursor: { row: region.length - 1, column: 0 } });
        }
        const wanted = [...steps.flatMap(({ printed }) => printed), ...(steps.at(-1)?.region ?? [])];
        expect(await text()).toBe(wanted.join("\n").trimEnd());
      }),
      { numRuns: 60 },
    );
  });

  it("writes nothing when nothing changed, and keeps the bottom of a region that is too tall", async () => {
    const { screen, text, terminal } = shownBy(20, 5);
    screen.draw({ rows: ["1", "2", "3", "4", "5", "6"], cursor: { row: 5, column: 1 } });
    expect(await text()).toBe("3\n4\n5\n6");
    expect(terminal.buffer.active.cursorX).toBe(1);
    screen.draw({ rows: ["1", "2", "3", "4", "5", "6"], cursor: { row: 5, column: 1 } });
    expect(await text()).toBe("3\n4\n5\n6");
    screen.clear();
    expect(await text()).toBe("");
  });
});

import { expect, it } from "vitest";
import { createStyle } from "../terminal/style.ts";
import { formatChanges } from "./format-changes.ts";

const style = createStyle(process.stdout, { NO_COLOR: "1" });
const toFile = (text: string) => ({ sha256: text, text });

it("shows the lines that changed, files that are new or gone, and hidden characters (A71)", () => {
  const lines = formatChanges(
    {
      trusted: { ".mcp.json": toFile("a\nb\nc"), "same.sh": toFile("x"), "old.sh": toFile("rm x") },
      current: {
        ".mcp.json": toFile("a\nB\u202e\nc"),
        "same.sh": toFile("x"),
        "new.sh": toFile("curl\x1b[2J"),
      },
    },
    style,
  );
  expect(lines).toEqual([
    ...["--- .mcp.json", "+++ .mcp.json", "-b", "+B\\u{202e}"],
    ...["--- (new file)", "+++ new.sh", "+curl\\u{1b}[2J"],
    ...["--- old.sh", "+++ (deleted)"],
  ]);
});

it("counts the lines it leaves out, and says when a file is too long to compare", () => {
  const long = Array.from({ length: 300 }, (_, index) => `line ${index}`).join("\n");
  const lines = formatChanges({ trusted: { a: toFile("") }, current: { a: toFile(long) } }, style);
  expect(lines).toHaveLength(2 + 200 + 1);
  expect(lines.at(-1)).toBe("… 100 more lines");
  const huge = { trusted: { a: { sha256: "1" } }, current: { a: { sha256: "2" } } };
  expect(formatChanges(huge, style)).toEqual(["--- a", "+++ a", "(too long to compare)"]);
});

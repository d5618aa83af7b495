import { expect, test } from "vitest";
import { stripCodeMarks } from "./strip-code-marks.ts";

test("backticks and fences are removed, and the code stays unchanged", () => {
  const passage = "Use `.parse` here:\n\n```ts\nconst name = `a`;\n```\n\nThen ``go`` on.";
  expect(stripCodeMarks(passage)).toBe("Use .parse here:\n\nconst name = `a`;\n\nThen go on.");
});

test("a passage may end inside code, and a single backtick stays", () => {
  expect(stripCodeMarks("See:\n```ts\nparse(x) …")).toBe("See:\nparse(x) …");
  expect(stripCodeMarks("5` wide\n```")).toBe("5` wide");
});

import { expect, test } from "vitest";
import { stripCodeMarks } from "./strip-code-marks.ts";

test("a passage is read without the signs around code, and code itself is left alone", () => {
  const passage = "Use `.parse` here:\n\n```ts\nconst name = `a`;\n```\n\nThen ``go`` on.";
  expect(stripCodeMarks(passage)).toBe("Use .parse here:\n\nconst name = `a`;\n\nThen go on.");
});

test("a passage may end in the middle of code, and a single sign stays", () => {
  expect(stripCodeMarks("See:\n```ts\nparse(x) …")).toBe("See:\nparse(x) …");
  expect(stripCodeMarks("5` wide\n```")).toBe("5` wide");
});

import { expect, it } from "vitest";
import { answerArithmetic } from "./calculate.ts";

it.each([
  ["What's 2+2?", "2+2 = 4"],
  ["what is 20% of 150", "20% of 150 = 30"],
  ["How much is 12 times 12?", "12 times 12 = 144"],
  ["3 * (4 - 1) ^ 2 =", "3 * (4 - 1) ^ 2 = 27"],
  ["calculate 1,200 / 7", "1,200 / 7 = 171.428571429"],
  ["0.1 + 0.2", "0.1 + 0.2 = 0.3"],
  ["Wie viel ist 7 mal 8?", "7 mal 8 = 56"],
  ["-2^2 + 5", "-2^2 + 5 = 1"],
  ["1/0", "1/0 has no result."],
])("%j is answered with %j (S3-37)", (question, answer) => {
  expect(answerArithmetic(question, [])).toBe(answer);
});

it.each([
  "What is hono?",
  "What's new in 2.2?",
  "2 boats and 3 cats",
  "(1+",
  "1++",
  "42",
  "2026-11-",
  "+47 22 33",
])("%j is no arithmetic", (question) => {
  expect(answerArithmetic(question, [])).toBeUndefined();
});

it("a tool that calculates is used instead", () => {
  const tool = { name: "sum", description: "Adds numbers.", input: {} };
  expect(answerArithmetic("2+2", [tool])).toBeUndefined();
});

import { expect, it } from "vitest";
import { lineOf, type TestedFile, tallyOf } from "./tally-reporter.ts";

type State = "passed" | "failed" | "skipped" | "pending";

const file = (
  states: readonly State[],
  errors = 0,
  suiteErrors = 0,
  late: readonly number[] = [],
): TestedFile => ({
  errors: () => Array(errors).fill("error"),
  children: {
    allTests: () =>
      states.map((state, index) => ({
        fullName: `${state} ${index}`,
        result: () => ({ state }),
        diagnostic: () => ({ flaky: late.includes(index) }),
      })),
    allSuites: () => [{ errors: () => Array(suiteErrors).fill("error") }],
  },
});

it("counts the tests of all files in one line", () => {
  const files = [file(["passed", "failed"]), file(["passed", "skipped"])];
  expect(lineOf(tallyOf(files, 0))).toBe("2 passed, 1 failed, 1 skipped");
});

it("counts a file that does not load, a failing hook, an unhandled error and an unfinished test as failures", () => {
  expect(lineOf(tallyOf([file([], 1), file(["passed"], 0, 1), file(["pending"])], 1))).toBe(
    "1 passed, 4 failed, 0 skipped",
  );
});

it("names the tests that passed when they were tried again", () => {
  expect(tallyOf([file(["passed", "passed"], 0, 0, [1])], 0)).toMatchObject({
    passed: 2,
    late: ["passed 1"],
  });
});

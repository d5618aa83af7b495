import { expect, it } from "vitest";
import { computeTally, formatTally, type TestFile } from "./tally-reporter.ts";

type State = "passed" | "failed" | "skipped" | "pending";

const createFile = (
  states: readonly State[],
  errors = 0,
  suiteErrors = 0,
  flaky: readonly number[] = [],
): TestFile => ({
  errors: () => Array(errors).fill("error"),
  children: {
    allTests: () =>
      states.map((state, index) => ({
        fullName: `${state} ${index}`,
        result: () => ({ state }),
        diagnostic: () => ({ flaky: flaky.includes(index) }),
      })),
    allSuites: () => [{ errors: () => Array(suiteErrors).fill("error") }],
  },
});

it("counts the tests of all files in one line", () => {
  const files = [createFile(["passed", "failed"]), createFile(["passed", "skipped"])];
  expect(formatTally(computeTally(files, 0))).toBe("2 passed, 1 failed, 1 skipped");
});

it("counts load errors, failing hooks, unhandled errors and unfinished tests as failures", () => {
  expect(
    formatTally(computeTally([createFile([], 1), createFile(["passed"], 0, 1), createFile(["pending"])], 1)),
  ).toBe("1 passed, 4 failed, 0 skipped");
});

it("lists the tests that passed on a retry", () => {
  expect(computeTally([createFile(["passed", "passed"], 0, 0, [1])], 0)).toMatchObject({
    passed: 2,
    flaky: ["passed 1"],
  });
});

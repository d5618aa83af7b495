import type { Reporter } from "vitest/node";

type Tally = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Tests that passed only on a retry. */
  readonly flaky: readonly string[];
};

/** The part of vitest's `TestModule` used here. */
export type TestFile = {
  errors(): readonly unknown[];
  readonly children: {
    allTests(): Iterable<{
      readonly fullName: string;
      result(): { readonly state: "passed" | "failed" | "skipped" | "pending" };
      diagnostic(): { readonly flaky: boolean } | undefined;
    }>;
    allSuites(): Iterable<{ errors(): readonly unknown[] }>;
  };
};

/**
 * A vitest reporter that ends the output with one line, `12 passed, 0 failed, 1 skipped`, for tools that do not parse
 * vitest's own summary. It prints on exit, because the order in which reporters finish is undefined.
 */
export function createTallyReporter(print: (line: string) => void = console.log): Reporter {
  let lastTally: Tally | undefined;
  return {
    onInit() {
      process.once("exit", () => {
        for (const name of lastTally?.flaky ?? []) print(`Passed on retry: ${name}`);
        if (lastTally) print(formatTally(lastTally));
      });
    },
    onTestRunEnd(files, unhandled) {
      lastTally = computeTally(files, unhandled.length);
    },
  };
}

/** Counts load errors, failing hooks and unhandled errors as failures, although they belong to no test. */
export function computeTally(files: readonly TestFile[], errorsOutsideTests: number): Tally {
  const count = { passed: 0, failed: errorsOutsideTests, skipped: 0, pending: 0 };
  const flaky: string[] = [];
  for (const file of files) {
    for (const test of file.children.allTests()) {
      count[test.result().state] += 1;
      if (test.diagnostic()?.flaky) flaky.push(test.fullName);
    }
    const suites = [...file.children.allSuites()];
    count.failed += file.errors().length + suites.flatMap((suite) => suite.errors()).length;
  }
  // A test without a result (the run was aborted) did not pass.
  return { passed: count.passed, failed: count.failed + count.pending, skipped: count.skipped, flaky };
}

export function formatTally({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

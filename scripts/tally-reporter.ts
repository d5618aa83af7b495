import type { Reporter } from "vitest/node";

type Tally = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The tests that passed when they were tried again. */
  readonly late: readonly string[];
};

/** What is needed of vitest's `TestModule`. */
export type TestedFile = {
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
 * A vitest reporter whose one line, `12 passed, 0 failed, 1 skipped`, closes the output, for readers that do not
 * know vitest's own summary. It prints at exit, because the order in which reporters finish is not promised.
 */
export function tally(print: (line: string) => void = console.log): Reporter {
  let last: Tally | undefined;
  return {
    onInit() {
      process.once("exit", () => {
        for (const name of last?.late ?? []) print(`Passed at the second attempt: ${name}`);
        if (last) print(lineOf(last));
      });
    },
    onTestRunEnd(files, unhandled) {
      last = tallyOf(files, unhandled.length);
    },
  };
}

/** A file that does not load, a hook that fails and an unhandled error are in no test, yet they are failures. */
export function tallyOf(files: readonly TestedFile[], errorsOutsideTests: number): Tally {
  const count = { passed: 0, failed: errorsOutsideTests, skipped: 0, pending: 0 };
  const late: string[] = [];
  for (const file of files) {
    for (const test of file.children.allTests()) {
      count[test.result().state] += 1;
      if (test.diagnostic()?.flaky) late.push(test.fullName);
    }
    const suites = [...file.children.allSuites()];
    count.failed += file.errors().length + suites.flatMap((suite) => suite.errors()).length;
  }
  // A test that never got a result (the run was cut short) did not pass.
  return { passed: count.passed, failed: count.failed + count.pending, skipped: count.skipped, late };
}

export function lineOf({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

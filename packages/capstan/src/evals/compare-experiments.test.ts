import { describe, expect, it } from "vitest";
import { checkThresholds } from "./check-thresholds.ts";
import { compareExperiments } from "./compare-experiments.ts";
import { type CaseResult, type Experiment, summarizeResults } from "./experiment.ts";
import { buildEvalReport, formatEvalReport, formatJUnit, formatMarkdown } from "./format-report.ts";

/** An experiment with these scores per case. */
function createExperiment(id: string, scores: { readonly [caseId: string]: readonly number[] }): Experiment {
  const results: CaseResult[] = Object.entries(scores).flatMap(([caseId, values]) =>
    values.map((value, index) => ({
      ...{
        caseId,
        attempt: index + 1,
        runId: `run_${id}_${caseId}_${index}`,
        sessionId: "s",
        status: "done" as const,
      },
      text: `answer <${caseId}>`,
      passed: value === 1,
      scores: [
        {
          scorer: "exact",
          value,
          passed: value === 1,
          ...(value < 1 && { reason: 'expected "a|b", got [x](y)' }),
        },
      ],
      ...{ cost: 0.01, ms: 100, turns: 1, usage: { inputTokens: 1, outputTokens: 1 } },
    })),
  );
  const cases = Object.keys(scores).map((caseId) => ({ id: caseId, input: caseId }));
  const fixed = {
    name: "shop",
    agent: "shop",
    status: "done",
    createdAt: 0,
    endedAt: 1,
    attempts: 1,
  } as const;
  return { id, ...fixed, scorers: ["exact"], cases, results, summary: summarizeResults(results, ["exact"]) };
}

const fill = (count: number, value: number, from = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${from + index}`, [value]]));

describe("the comparison of two experiments", () => {
  it("is better or worse when enough cases changed, and cannot tell otherwise", () => {
    const verdict = (before: Experiment, after: Experiment) =>
      compareExperiments(before, after).scorers[0]?.verdict;
    const bad = createExperiment("a", fill(8, 0));
    const good = createExperiment("b", fill(8, 1));
    expect(verdict(bad, good)).toBe("better");
    expect(verdict(good, bad)).toBe("worse");
    expect(verdict(good, good)).toBe("cannot tell");
    expect(verdict(createExperiment("a", fill(5, 0)), createExperiment("b", fill(5, 1)))).toBe("cannot tell");
  });

  it("shows each case with its attempts, and tells only from enough of them", () => {
    const before = createExperiment("a", { x: [0, 0, 0, 0], y: [0], onlyA: [1] });
    const after = createExperiment("b", { x: [1, 1, 1, 1], y: [1], onlyB: [1] });
    const { cases, onlyBefore, onlyAfter } = compareExperiments(before, after);
    expect(cases).toMatchObject([
      { caseId: "x", scores: [{ before: 0, after: 1, difference: 1, interval: [1, 1], verdict: "better" }] },
      { caseId: "y", scores: [{ difference: 1, interval: [-1, 1], verdict: "cannot tell" }] },
    ]);
    expect(cases[0]?.after.map(({ runId }) => runId)).toHaveLength(4);
    expect([onlyBefore, onlyAfter]).toEqual([["onlyA"], ["onlyB"]]);
  });

  it("does not count scores that could not be made", () => {
    const after = createExperiment("b", fill(8, 1));
    const [first, ...others] = after.results;
    const broken = {
      ...first,
      scores: [{ scorer: "exact", value: 0, passed: false, error: "no key" }],
    } as CaseResult;
    const results = [broken, ...others];
    const comparison = compareExperiments(createExperiment("a", fill(8, 1)), { ...after, results });
    expect(comparison.scorers[0]).toMatchObject({ cases: 7, before: 1, after: 1, verdict: "cannot tell" });
  });

  it("needs a case in common", () => {
    const other = createExperiment("b", fill(2, 1, 50));
    expect(() => compareExperiments(createExperiment("a", fill(2, 1)), other)).toThrow(
      "have no case in common",
    );
  });
});

describe("thresholds", () => {
  const half = createExperiment("a", { x: [1], y: [0] });
  it("require all attempts to pass, unless they say otherwise", () => {
    expect(checkThresholds(half)).toEqual(["1 of 2 attempts passed (50 %); at least 100 % must."]);
    expect(checkThresholds(half, { passRate: 0.5 })).toEqual([]);
    expect(checkThresholds(half, { scores: { exact: 0.5 } })).toEqual([]);
    expect(checkThresholds(half, { scores: { exact: 0.6 } })).toEqual([
      "exact is 0.50; at least 0.60 is required.",
    ]);
    expect(checkThresholds(half, { passRate: 0.5, cost: 0.01 })).toEqual([
      "The runs cost $0.0200; at most $0.0100 is allowed.",
    ]);
    expect(checkThresholds({ ...half, status: "cancelled" }, { passRate: 0 })).toEqual([
      "The experiment is cancelled.",
    ]);
  });

  it("name a scorer that applies to no case", () => {
    const other = { ...half, summary: summarizeResults(half.results, ["exact", "judge"]) };
    expect(checkThresholds(other, { scores: { judge: 0.5 } })).toEqual(["judge applies to no case."]);
    expect(formatEvalReport(buildEvalReport(other, {}))).toMatch(/^judge +– +applies to no case +–$/m);
  });

  it("fail an experiment that got worse", () => {
    const [before, after] = [createExperiment("a", fill(8, 1)), createExperiment("b", fill(8, 0))];
    const comparison = compareExperiments(before, after);
    expect(checkThresholds(after, { passRate: 0 }, comparison)).toEqual(["exact got worse by 1.00."]);
    expect(checkThresholds(before, { passRate: 0 }, compareExperiments(after, before))).toEqual([]);
  });
});

describe("the reports", () => {
  const [before, after] = [
    createExperiment("exp_1", fill(6, 0)),
    createExperiment("exp_2", { ...fill(5, 1), c5: [0] }),
  ];
  const report = buildEvalReport(after, undefined, compareExperiments(before, after));

  it("are a table for the terminal", () => {
    expect(formatEvalReport(report)).toContain("Compared with exp_1:\n");
    expect(formatEvalReport(report)).toMatch(/^all +exact +0\.00 +0\.83 +0\.00 to 1\.00 +cannot tell$/m);
    expect(formatEvalReport(report)).toContain('  c5 (attempt 1)\n    exact 0.00: expected "a|b"');
    expect(formatEvalReport(report)).toMatch(
      /FAILED\n {2}5 of 6 attempts passed \(83\.3 %\); at least 100 % must\.\n$/,
    );
  });

  it("are Markdown in which an answer adds no cells, links or tags", () => {
    const markdown = formatMarkdown([report]);
    expect(markdown).toContain("### ❌ shop");
    expect(markdown).toContain('exact 0.00: expected "a\\|b", got \\[x\\](y)');
    expect(formatMarkdown([buildEvalReport(before, { passRate: 0 })])).toContain("### ✅ shop");
  });

  it("are JUnit in which an answer adds no elements", () => {
    const xml = formatJUnit([report]);
    expect(xml).toContain('<testsuite name="shop" tests="6" failures="1" errors="0" time="0.600">');
    expect(xml).toContain("answer &lt;c5&gt;");
    expect(xml.match(/<testcase /g)).toHaveLength(6);
    expect(xml).not.toContain("answer <c5>");
  });
});

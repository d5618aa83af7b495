import { formatCount } from "../base/format-count.ts";
import { checkThresholds, formatRate, formatScore } from "./check-thresholds.ts";
import type { Comparison, Difference } from "./compare-experiments.ts";
import type { Thresholds } from "./define-eval.ts";
import type { CaseResult, Experiment, ScorerSummary } from "./experiment.ts";
import { findCaseName } from "./name-case.ts";
import type { Interval } from "./statistics.ts";

/** An experiment with what it is held against, ready to be reported. */
export type EvalReport = {
  readonly experiment: Experiment;
  readonly comparison?: Comparison;
  /** Why the eval failed; empty if it passed. */
  readonly problems: readonly string[];
};

export function buildEvalReport(
  experiment: Experiment,
  thresholds: Thresholds | undefined,
  comparison?: Comparison,
): EvalReport {
  const problems = checkThresholds(experiment, thresholds, comparison);
  return { experiment, ...(comparison && { comparison }), problems };
}

export function formatInterval([low, high]: Interval): string {
  return `${formatScore(low)} to ${formatScore(high)}`;
}

/** Describes each attempt that did not pass: its case, the question unless that is the name, and a line per reason. */
export function describeFailures({
  cases,
  results,
}: Pick<Experiment, "cases" | "results">): readonly string[] {
  const questions = new Map(cases.map(({ id, input }) => [id, findCaseName(input)]));
  return results
    .filter(({ passed }) => !passed)
    .map((result) => {
      const question = questions.get(result.caseId);
      const asked = question === undefined || question === result.caseId ? [] : [`asked: ${question}`];
      const details = [...asked, ...listReasons(result)].map((line) => `    ${line}`);
      return [`  ${formatAttempt(result)}`, ...details].join("\n");
    });
}

const formatAttempt = ({ caseId, attempt }: CaseResult): string => `${caseId} (attempt ${attempt})`;

function listReasons({ scores, error, status, text }: CaseResult): readonly string[] {
  if (error) return [`${error.code}: ${error.message}`];
  if (scores.length === 0) return ["no scorer applies to this case"];
  const reasons = scores
    .filter(({ passed }) => !passed)
    .map(({ scorer, value, reason, error: problem }) =>
      problem === undefined
        ? `${scorer} ${formatScore(value)}${reason === undefined ? "" : `: ${reason}`}`
        : `${scorer} gave no score: ${problem}`,
    );
  return status === "done" ? reasons : [`the run is ${status}: ${text}`, ...reasons];
}

/** Formats an experiment for a terminal. */
export function formatEvalReport({ experiment, comparison, problems }: EvalReport): string {
  const { name, summary, attempts, cases, id } = experiment;
  const isReviewed = summary.scorers.some(({ agreement }) => agreement);
  const rows = summary.scorers.map((scorer) => [
    ...toSummaryCells(scorer),
    ...(isReviewed ? [formatAgreement(scorer)] : []),
  ]);
  const failures = describeFailures(experiment);
  const lines = [
    `${name}: ${formatCount(cases.length, "case")}, ${formatCount(attempts, "attempt")} each (${id})`,
    "",
    ...alignRows([
      ["scorer", "mean", "95 % interval", "passed", ...(isReviewed ? ["as reviewed"] : [])],
      ...rows,
    ]),
    ...(comparison ? ["", ...formatComparison(comparison)] : []),
    ...(failures.length > 0 ? ["", "Not passed:", ...failures] : []),
    "",
    ...(problems.length > 0 ? ["FAILED", ...problems.map((problem) => `  ${problem}`)] : ["PASSED"]),
  ];
  return `${lines.join("\n")}\n`;
}

function formatAgreement({ agreement }: ScorerSummary): string {
  return agreement ? `${agreement.agreed} of ${agreement.reviewed}` : "";
}

function toSummaryCells({ scorer, mean, interval, passRate, cases }: ScorerSummary): readonly string[] {
  if (cases === 0) return [scorer, "–", "applies to no case", "–"];
  return [scorer, formatScore(mean), formatInterval(interval), formatRate(passRate)];
}

function formatComparison({ before, scorers, cases, onlyBefore, onlyAfter }: Comparison): readonly string[] {
  const changed = cases.flatMap(({ caseId, scores }) =>
    scores.filter(({ difference }) => difference !== 0).map((score) => [caseId, ...toCells(score)]),
  );
  return [
    `Compared with ${before.id}${before.agentVersion === undefined ? "" : ` (version ${before.agentVersion})`}:`,
    ...alignRows([
      ["", "scorer", "before", "after", "95 % interval", "verdict"],
      ...scorers.map((score) => ["all", ...toCells(score)]),
      ...changed,
    ]),
    ...(onlyBefore.length > 0 ? [`Only before: ${onlyBefore.join(", ")}`] : []),
    ...(onlyAfter.length > 0 ? [`Only now: ${onlyAfter.join(", ")}`] : []),
  ];
}

function toCells({ scorer, before, after, interval, verdict }: Difference): string[] {
  return [scorer, formatScore(before), formatScore(after), formatInterval(interval), verdict];
}

function alignRows(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Formats experiments as Markdown, for the summary of a CI job or a comment. */
export function formatMarkdown(reports: readonly EvalReport[]): string {
  return `${reports.map(formatSection).join("\n\n")}\n`;
}

function formatSection({ experiment, comparison, problems }: EvalReport): string {
  const { name, summary, results } = experiment;
  const failed = results.filter(({ passed }) => !passed);
  const changes = comparison?.cases.flatMap(({ caseId, scores }) =>
    scores.filter(({ difference }) => difference !== 0).map((score) => [caseId, ...toCells(score)]),
  );
  return [
    `### ${problems.length > 0 ? "❌" : "✅"} ${escapeCell(name)}`,
    "",
    `${summary.passed} of ${formatCount(summary.results, "attempt")} passed${summary.cost > 0 ? `, for $${summary.cost.toFixed(4)}` : ""}.`,
    ...problems.map((problem) => `- ${escapeCell(problem)}`),
    "",
    ...formatMarkdownTable([
      ["scorer", "mean", "95 % interval", "passed"],
      ...summary.scorers.map(toSummaryCells),
    ]),
    ...(comparison
      ? [
          "",
          `Compared with \`${comparison.before.id}\`:`,
          "",
          ...formatMarkdownTable([
            ["case", "scorer", "before", "after", "95 % interval", "verdict"],
            ...comparison.scorers.map((score) => ["**all**", ...toCells(score)]),
            ...(changes ?? []),
          ]),
        ]
      : []),
    ...(failed.length > 0
      ? [
          "",
          ...formatMarkdownTable([
            ["not passed", "why"],
            ...failed.map((result) => [formatAttempt(result), listReasons(result).join("; ")]),
          ]),
        ]
      : []),
  ].join("\n");
}

function formatMarkdownTable([header = [], ...rows]: readonly (readonly string[])[]): readonly string[] {
  const toLine = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(" | ")} |`;
  return [toLine(header), `|${header.map(() => " --- |").join("")}`, ...rows.map(toLine)];
}

/** Answers of models are data: they cannot add cells, links, images or tags. */
function escapeCell(text: string): string {
  if (text === "**all**") return text;
  const line = text.replace(/\s+/g, " ");
  return line.replace(/[\\`*_[\]<>|!&]/g, (character) => `\\${character}`);
}

/** Formats experiments as JUnit XML: a suite per eval, a test per attempt. */
export function formatJUnit(reports: readonly EvalReport[]): string {
  const suites = reports.map(({ experiment, problems }) => {
    const { name, results } = experiment;
    const tests = results.map((result) => formatTestCase(name, result));
    const failures = results.filter(({ error, passed }) => !error && !passed).length;
    const errors = results.filter((result) => result.error).length;
    const counts = `tests="${results.length}" failures="${failures}" errors="${errors}"`;
    const output =
      problems.length > 0 ? `\n    <system-out>${escapeXml(problems.join("\n"))}</system-out>` : "";
    return `  <testsuite name="${escapeXml(name)}" ${counts} time="${formatSeconds(sumTime(results))}">\n${tests.join("\n")}${output}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("\n")}\n</testsuites>\n`;
}

function formatTestCase(name: string, result: CaseResult): string {
  const attributes = `classname="${escapeXml(name)}" name="${escapeXml(formatAttempt(result))}" time="${formatSeconds(result.ms)}"`;
  if (result.passed) return `    <testcase ${attributes}/>`;
  const tag = result.error ? "error" : "failure";
  const [first = "", ...others] = listReasons(result);
  const body = escapeXml([first, ...others, `run ${result.runId}`, result.text].join("\n"));
  return `    <testcase ${attributes}>\n      <${tag} message="${escapeXml(first)}">${body}</${tag}>\n    </testcase>`;
}

const sumTime = (results: readonly CaseResult[]): number => results.reduce((sum, { ms }) => sum + ms, 0);
const formatSeconds = (ms: number): string => (ms / 1000).toFixed(3);

/** Characters that XML 1.0 does not allow are dropped. */
function escapeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\n": "&#10;",
  };
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML does not allow
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
      .replace(/[&<>"\n]/g, (character) => entities[character] ?? character)
  );
}

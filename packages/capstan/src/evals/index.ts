export { checkThresholds } from "./check-thresholds.ts";
export {
  type CaseComparison,
  type Comparison,
  compareExperiments,
  type Difference,
  type Verdict,
} from "./compare-experiments.ts";
export {
  type ApprovalMode,
  defineEval,
  type Eval,
  type EvalDefinition,
  type Thresholds,
} from "./define-eval.ts";
export { type EvalCase, type ExpectedCall, readCase, readCases } from "./eval-case.ts";
export type { EvalRunOptions, GetEvalRunOptions, QuotaErrors } from "./eval-run-options.ts";
export { expectEval } from "./expect-eval.ts";
export {
  type Agreement,
  type CaseResult,
  type Experiment,
  type ExperimentStatus,
  type ExperimentSummary,
  measureAgreement,
  type Review,
  type ScorerSummary,
} from "./experiment.ts";
export {
  buildEvalReport,
  type EvalReport,
  formatEvalReport,
  formatJUnit,
  formatMarkdown,
} from "./format-report.ts";
export type { JudgeOptions } from "./judge.ts";
export { type CaseFormat, parseCases } from "./parse-cases.ts";
export {
  claimExperiment,
  type Dataset,
  type ExperimentInfo,
  findExperiment,
  listDatasets,
  listExperiments,
  loadCases,
  loadDataset,
  loadExperiment,
  removeCase,
  removeDataset,
  removeExperiment,
  saveCases,
  saveDataset,
  saveExperimentInfo,
  saveReview,
} from "./records.ts";
export { type RunEvalOptions, runEval } from "./run-eval.ts";
export type { MadeCall, RunOutcome } from "./run-outcome.ts";
export type { Score, ScoredRun, Scorer, ScoreValue } from "./scorer.ts";
export { createScorer, type ScorerData } from "./scorer-data.ts";
export { scorers } from "./scorers.ts";
export type { Interval } from "./statistics.ts";
export { type CaseCorrection, loadRunCase, saveRunCase, toCase } from "./to-case.ts";
export type { Simulation, ToolMode, ToolModes } from "./tool-modes.ts";
export { listToolRecordings, type ToolRecording } from "./tool-recordings.ts";

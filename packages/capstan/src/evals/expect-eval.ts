import { AgentError } from "../base/errors.ts";
import { checkThresholds } from "./check-thresholds.ts";
import type { Eval } from "./define-eval.ts";
import type { Experiment } from "./experiment.ts";
import { describeFailures } from "./format-report.ts";
import { type RunEvalOptions, runEval } from "./run-eval.ts";

/** Runs an eval in a test of any runner. Rejects with the cases that failed if a threshold is not reached. */
export async function expectEval(definition: Eval, options: RunEvalOptions = {}): Promise<Experiment> {
  const experiment = await runEval(definition, options);
  const problems = checkThresholds(experiment, definition.thresholds);
  if (problems.length === 0) return experiment;
  throw new AgentError(
    "eval_failed",
    [`The eval "${definition.name}" failed.`, ...problems, ...describeFailures(experiment)].join("\n"),
  );
}

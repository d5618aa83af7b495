import type { AgentError } from "../base/errors.ts";
import type { Result } from "../runtime/result.ts";
import type { RunOptions } from "../runtime/run.ts";

export type EvalRunOptions = Pick<RunOptions, "context" | "hooks" | "secrets" | "policy"> & {
  /**
   * For budgets that are the rest of a quota: the `quota_exceeded` error of a run that ends at one, by the code of the
   * budget. Its attempt does not count, and the experiment stops.
   */
  readonly quotaErrors?: QuotaErrors;
};

export type QuotaErrors = { readonly [Code in "budget_tokens" | "budget_cost"]?: AgentError };

export type GetEvalRunOptions = (run: {
  readonly runId: string;
  readonly sessionId: string;
}) => EvalRunOptions | Promise<EvalRunOptions>;

/** Throws the error of the quota at which a run has ended. */
export function assertWithinQuota(
  { status, error }: Pick<Result, "status" | "error">,
  errors: QuotaErrors = {},
): void {
  const found = status === "limit" && error ? errors[error.code as keyof QuotaErrors] : undefined;
  if (found) throw found;
}

import { setTimeout as sleep } from "node:timers/promises";
import { AgentError, type PolicyOverrides } from "capstan";
import type { EvalRunOptions, QuotaErrors } from "capstan/evals";
import type { Caller } from "../access/caller.ts";
import type { AdmittedRun } from "../access/quota-admission.ts";
import { findExceededQuota } from "../access/quota-error.ts";
import type { Deployment } from "../deployment.ts";

export type AttemptOptions = Pick<Deployment, "quotaAdmission" | "getRunOptions" | "policy">;

type Attempt = {
  readonly runId: string;
  readonly sessionId: string;
  readonly caller: Caller;
  readonly signal: AbortSignal;
};

/** An experiment waits for a quota that is free again within this time, and stops at any other. */
const maxWaitMs = 60_000;
/** It is unknown when active runs end, so a wait is at most this long. */
const pollMs = 1000;
const hint = "Continue the experiment afterwards: it keeps its finished attempts.";

/** Reserves a run of an experiment within the quotas of its user, and returns its options. Rejects with `quota_exceeded`. */
export async function admitAttempt(options: AttemptOptions, attempt: Attempt): Promise<EvalRunOptions> {
  const { policy = {}, getRunOptions } = options;
  const { sessionId, caller } = attempt;
  const admitted = await waitForQuota(options, attempt);
  try {
    const given = await getRunOptions({ scope: caller.scope, sessionId });
    return { ...given, policy: admitted.policy, quotaErrors: createQuotaErrors(policy, admitted.policy) };
  } catch (thrown) {
    admitted.release();
    throw thrown;
  }
}

async function waitForQuota(
  { quotaAdmission, policy = {} }: AttemptOptions,
  { runId, sessionId, caller, signal }: Attempt,
): Promise<AdmittedRun> {
  for (;;) {
    try {
      return await quotaAdmission.admit(caller, { runId, sessionId, policy });
    } catch (thrown) {
      const quota = thrown instanceof AgentError ? findExceededQuota(thrown) : undefined;
      if (!quota) throw thrown;
      const { message, retryAfterMs = Infinity } = thrown as AgentError;
      if (quota.limit === 0 || retryAfterMs > maxWaitMs)
        throw new AgentError("quota_exceeded", `${message} ${hint}`);
      await sleep(Math.min(retryAfterMs, pollMs), undefined, { signal });
    }
  }
}

/** Returns the errors of the budgets that a quota has lowered. */
function createQuotaErrors(own: PolicyOverrides, granted: PolicyOverrides): QuotaErrors {
  const createError = (kind: "tokens" | "cost") => {
    const budget = granted.budget?.[kind];
    if (budget === own.budget?.[kind]) return undefined;
    const amount = kind === "tokens" ? `${budget} tokens` : `$${budget}`;
    const message = `An attempt needs more than the ${amount} that are left for it in your quota of ${kind}. Wait until the quota resets, or raise it. ${hint}`;
    return new AgentError("quota_exceeded", message);
  };
  const [tokens, cost] = [createError("tokens"), createError("cost")];
  return { ...(tokens && { budget_tokens: tokens }), ...(cost && { budget_cost: cost }) };
}

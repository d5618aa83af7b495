// The user's answer "Always": one record {rules} of kind "approval_rules" per session. Records are not part of a session
// file or a fork, so no rule is ever imported or copied.
import { systemClock } from "../../base/clock.ts";
import { AgentError } from "../../base/errors.ts";
import { isRecord, type Json } from "../../base/json.ts";
import type { ApprovalRule, ApprovalScope } from "../../kernel/approval-scope.ts";
import { createId } from "../../kernel/ids.ts";
import { updateRecord } from "../../kernel/records.ts";
import type { Store } from "../../runtime/store.ts";

/** A call that waits for approval. `always` and `pattern` are absent if no such rule can cover it. */
type RuledCall = {
  readonly name: string;
  readonly shown: string;
  readonly always?: ApprovalScope;
  readonly pattern?: ApprovalScope;
};

type RuleOptions = {
  readonly sessionId: string;
  readonly runId: string;
  /** Default: `call`, which is the target of the call or its arguments. */
  readonly covers?: "call" | "pattern";
};

type RuleStore = Pick<Store, "getRecord" | "putRecord" | "removeRecord" | "findSession">;

const kind = "approval_rules";
const maxRules = 100;
/** The user is prompted again after 30 days. */
const maxAgeMs = 30 * 86_400_000;
const maxShownLength = 500;

/** Returns the rules of a session, oldest first. */
export async function listApprovalRules(
  store: RuleStore,
  sessionId: string,
): Promise<readonly ApprovalRule[]> {
  return selectValid(store, sessionId, await loadRules(store, sessionId));
}

/** Returns a rule for one of these scopes of a call, if the user has added one. */
export async function findApprovalRule(
  store: RuleStore,
  sessionId: string,
  scopes: readonly ApprovalScope[],
): Promise<ApprovalRule | undefined> {
  const digests = new Set(scopes.map(({ digest }) => digest));
  const rules = (await loadRules(store, sessionId)).filter(({ digest }) => digests.has(digest));
  return (await selectValid(store, sessionId, rules))[0];
}

/** False for an old rule, and for one of a deleted session with the same id: its runs were deleted with it. */
async function isValid(store: RuleStore, sessionId: string, rule: ApprovalRule): Promise<boolean> {
  const { runId, createdAt } = rule;
  return systemClock.now() - createdAt < maxAgeMs && (await store.findSession(runId)) === sessionId;
}

async function selectValid(
  store: RuleStore,
  sessionId: string,
  rules: readonly ApprovalRule[],
): Promise<readonly ApprovalRule[]> {
  const validity = await Promise.all(rules.map((rule) => isValid(store, sessionId, rule)));
  return rules.filter((_, index) => validity[index]);
}

async function loadRules(store: RuleStore, sessionId: string): Promise<readonly ApprovalRule[]> {
  return parseRules((await store.getRecord(kind, sessionId))?.body);
}

/**
 * Allows this call and equal ones, or every call that matches its pattern, for the rest of the session. Approve the
 * call itself as well: the rule applies to later ones. Rejects with `invalid_input` if no such rule can cover the call.
 */
export async function addApprovalRule(
  store: RuleStore,
  { sessionId, runId, covers = "call" }: RuleOptions,
  { name, shown, always, pattern }: RuledCall,
): Promise<ApprovalRule> {
  const scope = covers === "pattern" ? pattern : always;
  if (!scope)
    throw new AgentError(
      "invalid_input",
      `"${name}" cannot be allowed for the whole session${covers === "pattern" ? " by a pattern" : ""}. Approve this call only.`,
    );
  const rule: ApprovalRule = {
    ...{ ...scope, id: createId("rule_"), tool: name, shown: truncate(shown) },
    ...{ runId, createdAt: systemClock.now() },
  };
  await updateRules(store, sessionId, async (rules) => {
    const valid = await selectValid(store, sessionId, rules);
    const others = valid.filter(({ digest }) => digest !== scope.digest);
    if (others.length >= maxRules) throw createLimitError();
    return [...others, rule];
  });
  return rule;
}

/** Deletes a rule: later calls need approval again. Rejects with `not_found`. */
export async function revokeApprovalRule(store: RuleStore, sessionId: string, ruleId: string): Promise<void> {
  await updateRules(store, sessionId, (rules) => {
    const remaining = rules.filter(({ id }) => id !== ruleId);
    if (remaining.length === rules.length)
      throw new AgentError("not_found", `Approval rule "${ruleId}" not found in session "${sessionId}".`);
    return remaining;
  });
}

/** Deletes the rules of a session that was removed. */
export async function removeApprovalRules(store: RuleStore, sessionId: string): Promise<void> {
  await updateRules(store, sessionId, () => []);
}

async function updateRules(
  store: RuleStore,
  id: string,
  update: (rules: readonly ApprovalRule[]) => readonly ApprovalRule[] | Promise<readonly ApprovalRule[]>,
): Promise<void> {
  await updateRecord(store, { kind, id }, async (body) => {
    const rules = await update(parseRules(body));
    return rules.length > 0 ? ({ rules } as unknown as Json) : undefined;
  });
}

function parseRules(body: Json | undefined): readonly ApprovalRule[] {
  return isRecord(body) && Array.isArray(body.rules)
    ? (body.rules as unknown as readonly ApprovalRule[])
    : [];
}

function truncate(text: string): string {
  return text.length <= maxShownLength ? text : `${text.slice(0, maxShownLength).toWellFormed()}…`;
}

function createLimitError(): AgentError {
  const message = `A session has at most ${maxRules} approval rules. Revoke some of them first.`;
  return new AgentError("invalid_input", message);
}

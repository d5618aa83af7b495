import { computeRemainingMs, maxCallMs, planModelRetry } from "../../kernel/budget.ts";
import { estimateRequestTokens } from "../../kernel/context-size.ts";
import type { FactBody } from "../../kernel/event.ts";
import { estimateEntryTokens, estimateTokens, toPlainText } from "../../kernel/history.ts";
import { buildDone, type Decision, decideFacts, type Rule, type RuleContext } from "../../kernel/rule.ts";
import type { Compactions } from "../../kernel/state.ts";
import { toModelHistory } from "../citations/model-history.ts";
import {
  buildOmissionNote,
  countLeadingSummaries,
  findRecentTurnsStart,
  getCompactionPoint,
  selectLastingEntries,
  shortenResult,
} from "./fold.ts";

/** Compaction continues until the history is below this share of the budget; otherwise every turn would trigger it. */
const targetShare = 0.8;
/** Entries below this share of the budget are not worth a summary. */
const minSummaryShare = 0.1;
/** Assumed size of a conversation that was never measured. */
const defaultTokens = 8000;
const maxSummaryLength = 12_000;

type OpenSummary = NonNullable<Compactions["open"]>;

/**
 * Compacts the history before a model call: shortens older results first and, if that is not enough, summarizes
 * everything before the last two turns, and then shortens the results in these. Returns undefined if no compaction is
 * needed or possible.
 */
export function compactHistory(context: RuleContext, because: "budget" | "overflow"): Decision | undefined {
  const { state, run } = context;
  const { compactions } = run;
  if (because === "budget" && typeof run.policy.contextBudget !== "number") return undefined;
  if (compactions.open) return requestSummary(context, compactions.open);
  const point = getCompactionPoint(run);
  const wasShortened = compactions.shortenedAt === point;
  if (because === "budget" && !exceedsShare(context, wasShortened ? targetShare : 1)) return undefined;
  const until = findRecentTurnsStart(state.history);
  const number = compactions.count + 1;
  if (!wasShortened && canShorten(context, until))
    return decideFacts(`compact.${number}`, { type: "compacted", number, until });
  if (compactions.summarizedAt !== point && isWorthwhile(context, until, because))
    return requestSummary(context, { number, until, candidate: 0 });
  if (because === "overflow" || !exceedsShare(context, 1)) return undefined;
  return shortenRecentResults(context, until) ?? warnOverBudget(context);
}

/**
 * Performs a run that compacts its session: one summary of everything before the last two turns. Nothing is dropped if no
 * model can write it. A message that the user has sent meanwhile is answered.
 */
export const compactOnRequest: Rule = (context) => {
  const { agent, state, run } = context;
  if (!run.isCompaction || run.turn > 0) return undefined;
  const { open, saved, count } = run.compactions;
  if (open && open.candidate < agent.models.summary.length) return requestSummary(context, open);
  const until = findRecentTurnsStart(state.history);
  if (!open && !saved && isWorthwhile(context, until, "overflow"))
    return requestSummary(context, { number: count + 1, until, candidate: 0 });
  if (run.steering.length > 0) return undefined;
  if (open) {
    const text = "No model could summarize the conversation. It is unchanged.";
    const error = { code: "model_failed", message: text, retryable: false };
    return decideFacts(
      "answer",
      { type: "error", ...error },
      buildDone(run, { status: "failed", text, error }),
    );
  }
  const text = saved
    ? `Compacted the conversation: about ${saved.before} tokens became ${saved.after}.`
    : "Nothing to compact: there is nothing before the last two turns.";
  return decideFacts("answer", buildDone(run, { status: "done", text }));
};

/** Whether the history was compacted in the current turn. */
export function hasCompacted({ run }: RuleContext): boolean {
  const { shortenedAt, summarizedAt } = run.compactions;
  const point = getCompactionPoint(run);
  return shortenedAt === point || summarizedAt === point;
}

function exceedsShare({ state, run }: RuleContext, share: number): boolean {
  const { contextBudget } = run.policy;
  return contextBudget !== "unlimited" && estimateRequestTokens(state, run.steering) > contextBudget * share;
}

function canShorten({ state }: RuleContext, until: number): boolean {
  return state.history.slice(state.context.shortened, until).some((entry) => shortenResult(entry) !== entry);
}

function isWorthwhile({ state, run }: RuleContext, until: number, because: "budget" | "overflow"): boolean {
  const { history } = state;
  const lasting = selectLastingEntries(history, until, run);
  const replaced = history
    .slice(countLeadingSummaries(history), until)
    .filter((entry) => !lasting.includes(entry));
  const { contextBudget } = run.policy;
  if (because === "overflow" || contextBudget === "unlimited") return replaced.length > 0;
  return replaced.length > 0 && estimateTokens(replaced) >= contextBudget * minSummaryShare;
}

function requestSummary(context: RuleContext, { number, until, candidate }: OpenSummary): Decision {
  const { agent, state, run } = context;
  if (candidate >= agent.models.summary.length) return dropUnsummarized(context, number, until);
  const { contextBudget } = run.policy;
  const tokens =
    typeof contextBudget === "number" ? contextBudget : Math.max(state.context.tokens, defaultTokens);
  return {
    type: "effects",
    effects: [
      {
        type: "summary",
        id: `compact.${number}.${candidate}`,
        agent: run.agent,
        number,
        until,
        candidate,
        // At about four characters per token: three quarters of the budget for the input, one quarter for the summary.
        maxInputCharacters: tokens * 3,
        maxSummaryCharacters: Math.min(maxSummaryLength, tokens),
        timeoutMs: maxCallMs,
        deadlineMs: computeRemainingMs(run),
        retry: planModelRetry(run, state.at, candidate + 1 < agent.models.summary.length),
      },
    ],
  };
}

/** Drops entries that no model could summarize, with a warning, and continues the run. */
function dropUnsummarized({ state, run }: RuleContext, number: number, until: number): Decision {
  const text = buildOmissionNote(state.history.slice(0, until));
  const warning: FactBody = {
    type: "warning",
    code: "summary_failed",
    message: "No model could summarize the older part of the conversation, so it was dropped.",
  };
  const warnings = run.warned.has(warning.code) ? [] : [warning];
  return decideFacts(`compact.${number}`, { type: "compacted", number, until, text }, ...warnings);
}

/** The model has to see what a result is about. */
const minResultTokens = 100;

/**
 * Shortens the largest results of the last turns if these turns alone exceed the budget: no result keeps more than what
 * leaves enough room. Undefined if that has been done, or if no result is large.
 */
function shortenRecentResults({ state, run }: RuleContext, from: number): Decision | undefined {
  const { contextBudget } = run.policy;
  const { compactions } = run;
  if (contextBudget === "unlimited" || compactions.recentShortenedAt === getCompactionPoint(run))
    return undefined;
  const results = toModelHistory(state)
    .slice(from)
    .filter((entry) => entry.type === "result")
    .map((entry) => ({ entry, tokens: estimateEntryTokens({ ...entry, contexts: [] }) }));
  const excess = estimateRequestTokens(state, run.steering) - contextBudget * targetShare;
  const limit = Math.max(
    minResultTokens,
    findTokenLimit(
      results.map(({ tokens }) => tokens),
      excess,
    ),
  );
  const large = results.filter(({ tokens }) => tokens > limit);
  if (large.length === 0) return undefined;
  const number = compactions.count + 1;
  const shortened = large.map(({ entry, tokens }) => ({
    callId: entry.callId,
    maxCharacters: Math.floor((toPlainText(entry.content).length * limit) / tokens),
  }));
  return {
    type: "effects",
    effects: [{ type: "shorten", id: `compact.${number}`, number, results: shortened }],
  };
}

/** Returns the size to which the larger results have to shrink so that `excess` tokens are saved in total. */
function findTokenLimit(sizes: readonly number[], excess: number): number {
  const descending = sizes.toSorted((left, right) => right - left);
  let total = 0;
  for (const [index, size] of descending.entries()) {
    total += size;
    const limit = (total - excess) / (index + 1);
    if (limit >= (descending[index + 1] ?? 0)) return Math.max(0, limit);
  }
  return 0;
}

/** Warns once that the last two turns alone exceed the budget in spite of it; the model is called anyway. */
function warnOverBudget({ run }: RuleContext): Decision | undefined {
  const code = "context_budget_passed";
  if (run.warned.has(code)) return undefined;
  const message = `The last two turns alone exceed the contextBudget of ${run.policy.contextBudget} tokens, also with shortened results.`;
  return decideFacts("context", { type: "warning", code, message });
}

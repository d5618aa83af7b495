import type { FactBody } from "../event.ts";
import {
  buildOmissionNote,
  countLeadingSummaries,
  findRecentTurnsStart,
  getCompactionPoint,
  selectLastingEntries,
  shortenResult,
} from "../state/compact.ts";
import { estimateRequestTokens, estimateTokens } from "../state/context-size.ts";
import type { Compactions } from "../state/state.ts";
import { computeRemainingMs, maxCallMs, modelRetry } from "./limits.ts";
import { type Decision, decideFacts, type RuleContext } from "./rule.ts";

/** Once it has begun, compaction goes on until so much of the budget is free: else the next turn would begin it anew. */
const targetShare = 0.8;
/** Less than this share of the budget is not worth a summary. */
const minSummaryShare = 0.1;
/** Of a conversation whose size nobody has told. */
const defaultTokens = 8000;
const maxSummaryLength = 12_000;

type OpenSummary = NonNullable<Compactions["open"]>;

/**
 * Makes room in the history before the model is asked: older results are shortened first, and when that is not enough,
 * all before the last two turns is summarised. Nothing when there is room, or nothing that could make any.
 */
export function compactHistory(view: RuleContext, because: "budget" | "overflow"): Decision | undefined {
  const { state, run } = view;
  const { compactions } = run;
  if (because === "budget" && typeof run.policy.contextBudget !== "number") return undefined;
  if (compactions.open) return requestSummary(view, compactions.open);
  const place = getCompactionPoint(run);
  const wasShortened = compactions.shortenedAt === place;
  if (because === "budget" && !exceedsShare(view, wasShortened ? targetShare : 1)) return undefined;
  const until = findRecentTurnsStart(state.history);
  const number = compactions.count + 1;
  if (!wasShortened && canShorten(view, until))
    return decideFacts(`compact.${number}`, { type: "compacted", number, until });
  if (compactions.summarisedAt !== place && isWorthwhile(view, until, because))
    return requestSummary(view, { number, until, candidate: 0 });
  return because === "budget" ? warnOverBudget(view) : undefined;
}

/** Whether room was made in the turn that is going on. */
export function hasCompacted({ run }: RuleContext): boolean {
  const { shortenedAt, summarisedAt } = run.compactions;
  const place = getCompactionPoint(run);
  return shortenedAt === place || summarisedAt === place;
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

function requestSummary(view: RuleContext, { number, until, candidate }: OpenSummary): Decision {
  const { agent, state, run } = view;
  if (candidate >= agent.models.summary.length) return dropUnsummarized(view, number, until);
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
        // Three quarters of the tokens that a request may have, and one quarter.
        maxInputCharacters: tokens * 3,
        maxSummaryCharacters: Math.min(maxSummaryLength, tokens),
        timeoutMs: maxCallMs,
        deadlineMs: computeRemainingMs(run),
        retry: modelRetry,
      },
    ],
  };
}

/** Nobody could write the summary: the entries are left out, and the run goes on. */
function dropUnsummarized({ state, run }: RuleContext, number: number, until: number): Decision {
  const text = buildOmissionNote(state.history.slice(0, until));
  const warning: FactBody = {
    type: "warning",
    code: "summary_failed",
    message: "No model could summarise the older part of the conversation; it is left out.",
  };
  const warnings = run.warned.has(warning.code) ? [] : [warning];
  return decideFacts(`compact.${number}`, { type: "compacted", number, until, text }, ...warnings);
}

/** What the last turns have alone cannot be made smaller; it is said once, and the model is asked all the same. */
function warnOverBudget({ run }: RuleContext): Decision | undefined {
  const code = "context_budget_passed";
  if (run.warned.has(code)) return undefined;
  const message = `The last two rounds alone have more than the ${run.policy.contextBudget} tokens of contextBudget.`;
  return decideFacts("context", { type: "warning", code, message });
}

import type { FactBody } from "../event.ts";
import {
  compactionPlace,
  lastingWords,
  lastRoundsFrom,
  leftOutNote,
  shortened,
  summariesAtFront,
} from "../state/compact.ts";
import { requestTokens, tokensOf } from "../state/context-size.ts";
import type { Compactions } from "../state/state.ts";
import { longestCallMs, modelRetry, remainingMs } from "./limits.ts";
import { type Decision, note, type View } from "./rule.ts";

/** Once it has begun, compaction goes on until so much of the budget is free: else the next turn would begin it anew. */
const enough = 0.8;
/** Less than this share of the budget is not worth a summary. */
const worthwhile = 0.1;
/** Of a conversation whose size nobody has told. */
const usualTokens = 8000;
const longestSummary = 12_000;

type Summary = NonNullable<Compactions["open"]>;

/**
 * Makes room in the history before the model is asked: older results are shortened first, and when that is not enough,
 * all before the last two rounds is summarised. Nothing when there is room, or nothing that could make any.
 */
export function makeRoom(view: View, because: "budget" | "overflow"): Decision | undefined {
  const { state, run } = view;
  const { compactions } = run;
  if (because === "budget" && typeof run.policy.contextBudget !== "number") return undefined;
  if (compactions.open) return summarised(view, compactions.open);
  const place = compactionPlace(run);
  const wasShortened = compactions.shortenedAt === place;
  if (because === "budget" && !isOver(view, wasShortened ? enough : 1)) return undefined;
  const until = lastRoundsFrom(state.history);
  const number = compactions.count + 1;
  if (!wasShortened && canShorten(view, until))
    return note(`compact.${number}`, { type: "compacted", number, until });
  if (compactions.summarisedAt !== place && isWorthwhile(view, until, because))
    return summarised(view, { number, until, candidate: 0 });
  return because === "budget" ? overBudget(view) : undefined;
}

/** Whether room was made in the turn that is going on. */
export function hasMadeRoom({ run }: View): boolean {
  const { shortenedAt, summarisedAt } = run.compactions;
  const place = compactionPlace(run);
  return shortenedAt === place || summarisedAt === place;
}

function isOver({ state, run }: View, share: number): boolean {
  const { contextBudget } = run.policy;
  return contextBudget !== "unlimited" && requestTokens(state, run.steering) > contextBudget * share;
}

function canShorten({ state }: View, until: number): boolean {
  return state.history.slice(state.context.shortened, until).some((entry) => shortened(entry) !== entry);
}

function isWorthwhile({ state, run }: View, until: number, because: "budget" | "overflow"): boolean {
  const { history } = state;
  const lasting = lastingWords(history, until, run);
  const replaced = history
    .slice(summariesAtFront(history), until)
    .filter((entry) => !lasting.includes(entry));
  const { contextBudget } = run.policy;
  if (because === "overflow" || contextBudget === "unlimited") return replaced.length > 0;
  return replaced.length > 0 && tokensOf(replaced) >= contextBudget * worthwhile;
}

function summarised(view: View, { number, until, candidate }: Summary): Decision {
  const { agent, state, run } = view;
  if (candidate >= agent.models.summary.length) return givenUp(view, number, until);
  const { contextBudget } = run.policy;
  const tokens =
    typeof contextBudget === "number" ? contextBudget : Math.max(state.context.tokens, usualTokens);
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
        mostShown: tokens * 3,
        mostWritten: Math.min(longestSummary, tokens),
        timeoutMs: longestCallMs,
        deadlineMs: remainingMs(run),
        retry: modelRetry,
      },
    ],
  };
}

/** Nobody could write the summary: the entries are left out, and the run goes on. */
function givenUp({ state, run }: View, number: number, until: number): Decision {
  const text = leftOutNote(state.history.slice(0, until));
  const warning: FactBody = {
    type: "warning",
    code: "summary_failed",
    message: "No model could summarise the older part of the conversation; it is left out.",
  };
  const warnings = run.warned.has(warning.code) ? [] : [warning];
  return note(`compact.${number}`, { type: "compacted", number, until, text }, ...warnings);
}

/** What the last rounds have alone cannot be made smaller; it is said once, and the model is asked all the same. */
function overBudget({ run }: View): Decision | undefined {
  const code = "context_budget_passed";
  if (run.warned.has(code)) return undefined;
  const message = `The last two rounds alone have more than the ${run.policy.contextBudget} tokens of contextBudget.`;
  return note("context", { type: "warning", code, message });
}

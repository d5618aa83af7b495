import { AgentError } from "../base/errors.ts";
import { approvalFacts } from "../features/approvals/facts.ts";
import { callFacts } from "../features/calls/facts.ts";
import { compactionFacts } from "../features/compaction/facts.ts";
import { forgetLastHandoff, handoffFacts } from "../features/handoffs/facts.ts";
import { endHandoffs } from "../features/handoffs/fold.ts";
import { limitFacts } from "../features/limits/facts.ts";
import { applyNested } from "../features/nested/nested-state.ts";
import { recoveryFacts } from "../features/recovery/facts.ts";
import { turnSummaryFacts } from "../features/turn-summaries/facts.ts";
import { turnFacts } from "../features/turns/facts.ts";
import type { Fact, FactBody } from "../kernel/event.ts";
import type { FactOf, FactRow, FactRows, IdContext } from "../kernel/fact-row.ts";
import { kernelFacts, runStart } from "../kernel/facts.ts";
import { addSteering, startRun } from "../kernel/fold-run.ts";
import {
  createState,
  type RunState,
  type State,
  updateElapsedTime,
  updateWaitedTime,
} from "../kernel/state.ts";

type ChangeType = Exclude<Fact["type"], "run_start">;

/** Every fact that changes a run. A type of fact that no folder owns does not compile. */
const changes: FactRows<ChangeType> = {
  ...kernelFacts,
  ...turnFacts,
  ...callFacts,
  ...compactionFacts,
  ...handoffFacts,
  ...approvalFacts,
  ...limitFacts,
  ...recoveryFacts,
  ...turnSummaryFacts,
};

type Reactions = {
  readonly [Type in ChangeType]?: readonly ((state: State, run: RunState, fact: FactOf<Type>) => void)[];
};

/** What other folders do with a fact, after its owner has folded it, in this order. */
const reactions: Reactions = {
  steered: [forgetLastHandoff],
  done: [endHandoffs, addSteering],
};

/**
 * Folds one fact into the state. Deterministic, without I/O, at a cost that does not grow with the history. Results may
 * arrive in any order; they are added to the history in call order.
 */
export function apply(state: State, fact: Fact): State {
  if (fact.seq <= state.seq) return state;
  updateElapsedTime(state, fact);
  state.seq = fact.seq;
  if (fact.parentRunId === undefined) applyToRun(state, fact);
  else applyNested(state, fact, applyToRun);
  return state;
}

function applyToRun(state: State, fact: Fact): void {
  if (fact.type === "run_start") state.run = startRun(state, fact);
  else if (state.run?.id === fact.runId) {
    updateWaitedTime(state.run, fact, state.elapsedMs);
    if (endsModelCall(fact)) state.run.modelCalls += 1;
    // TypeScript cannot correlate the entry of a table with the type of the fact.
    const row = changes[fact.type] as FactRow<ChangeType> | undefined;
    if (!row) throw createUnknownFactError(state, fact);
    row.fold(state, state.run, fact);
    for (const react of reactions[fact.type] ?? []) react(state, state.run, fact as never);
  }
}

function createUnknownFactError({ sessionId }: State, { seq, type }: Fact): AgentError {
  const message = `Fact ${seq} of session "${sessionId}" has the unknown type ${JSON.stringify(type)}: a newer version of Capstan or another program stored it. Update this process, or start a new session.`;
  return new AgentError("newer_version", message);
}

/** Whether the fact is the result of a model call. */
function endsModelCall({ type }: Fact): boolean {
  return modelResults.has(type);
}

const modelResults: ReadonlySet<Fact["type"]> = new Set([
  ...(["message", "message_partial", "model_failed", "compacted", "turn_summary"] as const),
]);

/** Builds the state from facts. Resuming a run folds all of its facts; forking one folds a prefix. */
export function fold(sessionId: string, facts: readonly Fact[]): State {
  return facts.reduce(apply, createState(sessionId));
}

/** Derives the id of a fact, which is the same when a step is repeated after a crash. */
export function createFactId(
  body: FactBody,
  { runId, retries }: { readonly runId: string; readonly retries: number },
  idSuffix: string,
): string {
  const context: IdContext = {
    runId,
    prefix: retries === 0 ? runId : `${runId}.retry${retries}`,
    idSuffix,
  };
  if (body.type === "run_start") return runStart.id(body, context);
  return (changes[body.type] as FactRow<ChangeType>).id(body, context);
}

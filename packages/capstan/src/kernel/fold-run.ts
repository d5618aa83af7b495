import { addFragment } from "../features/citations/fragments.ts";
import { applyHistoryLimit } from "../features/compaction/fold.ts";
import { createContextSize } from "./context-size.ts";
import type { Fact } from "./event.ts";
import { type Entry, getCalls, getText, toPlainText } from "./history.ts";
import type { Policy } from "./policy.ts";
import { addEntryLabels, addLabels, createLabels, findModelProvenance, mergeLabels } from "./provenance.ts";
import { noUsage, type RunState, type State } from "./state.ts";

/** Creates the state of a new run and prepares the session's history as the memory policy says. */
export function startRun(state: State, fact: Extract<Fact, { type: "run_start" }>): RunState {
  restoreMemory(state, fact.policy.memory);
  if (fact.imported)
    addLabels(state.labels, ["untrusted", "private"], { tool: "import", turn: 0, input: {} });
  for (const entry of fact.input) {
    state.history.push(withUnknownOrigin(entry));
    if (entry.type === "assistant") for (const call of getCalls(entry)) state.callIds.add(call.id);
    if (!fact.imported) addEntryLabels(state.labels, entry);
    if (entry.type === "result") for (const fragment of entry.contexts ?? []) addFragment(state, fragment);
  }
  const { historyLimit } = fact.policy;
  if (typeof historyLimit === "number") applyHistoryLimit(state, historyLimit);
  const question = fact.input.findLast((entry) => entry.type === "user");
  return {
    id: fact.runId,
    agent: fact.agent,
    policy: fact.policy,
    settings: fact.settings,
    timeZone: fact.timeZone,
    instructions: fact.instructions,
    handoffs: [],
    interruptedHandoffs: [],
    lastHandoff: undefined,
    denied: undefined,
    handoffCalls: new Set(),
    question,
    query: question ? toPlainText(question.content) : "",
    turn: 0,
    currentTurn: undefined,
    usage: noUsage,
    startedMs: state.elapsedMs,
    lastMs: state.elapsedMs,
    waitedMs: 0,
    waits: 0,
    recoveries: 0,
    retries: 0,
    isAlone: false,
    soloCrashes: 0,
    steering: [],
    approvals: new Map(),
    nested: new Map(),
    ...{ parent: undefined, isBackground: fact.background === true, reportedText: "" },
    ...{ waiting: false, wakeAt: undefined },
    cancelReason: undefined,
    limit: undefined,
    fallback: undefined,
    warned: new Set(),
    repeats: new Map(),
    unknownTools: 0,
    ...{ startedCalls: 0, modelCalls: 0, startedAgents: 0 },
    hasSearched: false,
    ...{ toolCalls: [], affected: [], reasoning: [], media: [], endedWork: [] },
    lastText: "",
    stopReason: undefined,
    citations: [],
    invalidOutputs: 0,
    compactions: {
      ...{ count: 0, open: undefined, saved: undefined },
      ...{ shortenedAt: undefined, summarizedAt: undefined, recentShortenedAt: undefined },
    },
    isCompaction: fact.compact === true,
    done: undefined,
  };
}

/** The origin of results and summaries that a client sends is unknown, whatever they claim. */
function withUnknownOrigin(entry: Entry): Entry {
  if (entry.type === "result") return { ...entry, reads: ["untrusted", "private"] };
  return entry.type === "summary" ? { ...entry, provenance: "external" } : entry;
}

/** Restores the session's memory after a run that did not use it, and sets it aside for the next such run. */
function restoreMemory(state: State, memory: Policy["memory"]): void {
  const { sessionMemory, run } = state;
  if (sessionMemory) {
    const added = run?.policy.memory === "run" ? state.history : [];
    state.history = [...sessionMemory.history, ...added];
    // The first content of a fragment is kept, as within a run.
    state.fragments = new Map([...sessionMemory.fragments, ...state.fragments, ...sessionMemory.fragments]);
    state.labels = mergeLabels(sessionMemory.labels, state.labels);
    state.context = createContextSize();
    state.sessionMemory = undefined;
  }
  if (memory === "session") return;
  state.sessionMemory = { history: state.history, fragments: state.fragments, labels: state.labels };
  state.history = [];
  state.context = createContextSize();
  state.labels = createLabels();
  state.fragments = new Map();
}

/** Suspends the run, with `until` for an outage of its model. */
export function suspendRun(_: State, run: RunState, { until }: Extract<Fact, { type: "waiting" }>): void {
  run.waiting = true;
  run.isAlone = false;
  run.waits += 1;
  run.wakeAt = until;
  if (run.currentTurn && until !== undefined) run.currentTurn.suspensions += 1;
}

/** Wakes the run and its nested runs: they suspended together. */
export function wakeRun(_: State, run: RunState): void {
  run.wakeAt = undefined;
  if (run.currentTurn) run.currentTurn.failure = undefined;
  for (const child of run.nested.values()) {
    if (child.run?.wakeAt === undefined) continue;
    child.run.waiting = false;
    wakeRun(child, child.run);
  }
}

type DoneFact = Extract<Fact, { type: "done" }>;

export function endRun(state: State, run: RunState, fact: DoneFact): void {
  const { status, text, grounded, output, error, canRetry } = fact;
  run.done = {
    status,
    text,
    grounded,
    ...(output !== undefined && { output }),
    ...(error && { error }),
    ...(canRetry && { canRetry }),
  };
  // The next run needs the answer as context.
  if (isMissingInHistory(run, fact)) {
    const provenance = findModelProvenance(state.labels);
    state.history.push({
      ...{ type: "assistant", parts: [{ type: "text", text }] },
      ...(provenance && { provenance }),
    });
  }
}

/** Whether the runtime wrote the answer, or the run was cancelled before the model continued its message. */
function isMissingInHistory(run: RunState, { status, text }: DoneFact): boolean {
  const { lastText, currentTurn } = run;
  // The report about a compaction is for the user only.
  if (run.isCompaction && run.turn === 0) return false;
  if (status === "limit" || status === "done") return text !== lastText;
  const { partial } = currentTurn ?? {};
  return status === "cancelled" && partial !== undefined && getText(partial.entry).trim() === text;
}

export function addSteering(state: State, run: RunState): void {
  state.history.push(...run.steering);
  run.steering = [];
}

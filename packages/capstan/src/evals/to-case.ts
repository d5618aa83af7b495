import { AgentError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { Fact } from "../kernel/event.ts";
import { fold } from "../runtime/facts.ts";
import type { RunInput } from "../runtime/input.ts";
import { isInRun, isNested, loadFacts } from "../runtime/load-facts.ts";
import type { Store } from "../runtime/store.ts";
import type { EvalCase } from "./eval-case.ts";
import { createUniqueNamer, findCaseName } from "./name-case.ts";
import { loadCases, saveCases } from "./records.ts";
import { readOutcome } from "./run-outcome.ts";

/** What a user changes in a case that is saved from a run. */
export type CaseCorrection = {
  readonly id?: string;
  /** The right answer, if the run's own is wrong. */
  readonly expected?: Json;
  readonly notes?: string;
  readonly tags?: readonly string[];
};

/**
 * Makes a case of a run: its input, its answer as the expected one, and its calls. Pass the facts of its session up to
 * the run, so that earlier messages become part of the input; the last run is used.
 */
export function toCase(facts: readonly Fact[], correction: CaseCorrection = {}): EvalCase {
  const start = facts.findLast((fact) => fact.type === "run_start" && !isNested(fact));
  if (start?.type !== "run_start")
    throw new AgentError("unknown_run", "These facts contain no run: `run_start` is missing.");
  const { runId, sessionId, agent } = start;
  const runFacts = facts.filter((fact) => isInRun(fact, runId));
  const { text, output, calls } = readOutcome(runFacts);
  const expected = correction.expected ?? output ?? (text === "" ? undefined : text);
  const { notes, tags } = correction;
  return {
    id: correction.id ?? findCaseName(start.input) ?? runId,
    input: toCaseInput(facts.slice(0, facts.indexOf(start)), start),
    ...(expected !== undefined && { expected }),
    // A corrected answer may need other calls than the run made.
    ...(correction.expected === undefined && {
      calls: calls.map(({ name, input }) => ({ name, input })),
    }),
    ...(notes !== undefined && { notes }),
    ...(tags !== undefined && { tags }),
    source: { runId, sessionId, agent },
  };
}

/** Makes a case of a stored run, with the earlier messages of its session. Rejects with `unknown_run`. */
export async function loadRunCase(
  store: Store,
  runId: string,
  correction?: CaseCorrection,
): Promise<EvalCase> {
  const run = await store.findRun(runId);
  if (!run) throw new AgentError("unknown_run", `Run "${runId}" not found in the store.`);
  const facts = await loadFacts(store, run.sessionId);
  const next = facts.findIndex(
    (fact) => fact.type === "run_start" && !isNested(fact) && fact.seq > run.firstSeq,
  );
  return toCase(next === -1 ? facts : facts.slice(0, next), correction);
}

/**
 * Saves a stored run as a case of a dataset. Without an id it is named by its question, with a number if another run has
 * asked the same; the case that the run was saved as before is replaced.
 */
export async function saveRunCase(
  store: Store,
  dataset: string,
  { runId, ...correction }: CaseCorrection & { readonly runId: string },
): Promise<EvalCase> {
  const saved = await loadRunCase(store, runId, correction);
  const others = (await loadCases(store, dataset)).filter(({ source }) => source?.runId !== runId);
  const makeUnique = createUniqueNamer(others.map(({ id }) => id));
  const named = correction.id === undefined ? { ...saved, id: makeUnique(saved.id) } : saved;
  await saveCases(store, dataset, [named]);
  return named;
}

type RunStart = Extract<Fact, { readonly type: "run_start" }>;

function toCaseInput(earlier: readonly Fact[], { input, sessionId, policy }: RunStart): RunInput {
  const isComplete = earlier.every((fact, index) => fact.seq === index + 1);
  const history = policy.memory === "session" && isComplete ? fold(sessionId, earlier).history : [];
  const [only, ...others] = input;
  if (
    history.length === 0 &&
    others.length === 0 &&
    only?.type === "user" &&
    typeof only.content === "string"
  )
    return only.content;
  return [...history, ...input];
}

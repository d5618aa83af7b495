import { backgroundClock, type Clock } from "../base/clock.ts";
import { suggestName } from "../base/definition.ts";
import { AgentError, describeThrown, type ErrorData } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { Agent } from "../kernel/agent.ts";
import { createId } from "../kernel/ids.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import type { Eval } from "./define-eval.ts";
import { type EvalCase, readCases } from "./eval-case.ts";
import type { GetEvalRunOptions } from "./eval-run-options.ts";
import { type CaseResult, type Experiment, summarizeResults } from "./experiment.ts";
import { loadRecordings, writeRecordings } from "./recording-file.ts";
import {
  loadExperiment,
  maxSilenceMs,
  saveExperimentCases,
  saveExperimentInfo,
  saveResult,
} from "./records.ts";
import { type RanCase, runCase } from "./run-case.ts";
import type { ToolRecording } from "./tool-recordings.ts";

export type RunEvalOptions = {
  /** Where the experiment and its runs are stored. Default: in memory. */
  readonly store?: Store;
  /** Overrides that of the eval. */
  readonly attempts?: number;
  /** Runs at the same time. Default: 4. */
  readonly concurrency?: number;
  /** The agents that an eval can name. */
  readonly agents?: readonly Agent[];
  /**
   * Aborting it ends the experiment with the results so far: as `interrupted` if that is the reason of the signal, as
   * `cancelled` otherwise.
   */
  readonly signal?: AbortSignal;
  /** Called when the experiment is stored, before its first run. */
  readonly onStart?: (experiment: Experiment) => void;
  /** Called after each attempt. */
  readonly onResult?: (
    result: CaseResult,
    progress: { readonly done: number; readonly total: number },
  ) => void;
  /** Calls recorded tools for real, and writes their answers to the eval's file of recordings. */
  readonly record?: boolean;
  /** Id of the experiment. If it exists, it is continued: attempts that have a result are not repeated. */
  readonly id?: string;
  /**
   * Returns further options of each run, also of judges, such as its hooks and secrets. A case with a context overrides
   * theirs. Rejecting with `quota_exceeded` stops the experiment: started attempts finish, the others can be made later.
   */
  readonly getRunOptions?: GetEvalRunOptions;
  /** The user that the runs belong to, see `getScope`. Default: none. */
  readonly scope?: string;
  /** The dataset that the cases come from. */
  readonly dataset?: string;
  /** Stored with the experiment, see `ExperimentInfo`. */
  readonly request?: Json;
  /** The clock of the experiment and its runs. */
  readonly clock?: Clock;
};

type Attempt = { readonly case: EvalCase; readonly attempt: number };

/** Runs every case of an eval, scores the runs and stores the experiment. A failed case never rejects. */
export async function runEval(definition: Eval, options: RunEvalOptions = {}): Promise<Experiment> {
  try {
    return await runExperiment(definition, options);
  } finally {
    await definition.close?.();
  }
}

async function runExperiment(definition: Eval, options: RunEvalOptions): Promise<Experiment> {
  const { signal, concurrency = 4, record = false, scope = "", clock } = options;
  const cases = await loadEvalCases(definition);
  const getAgent = createAgentGetter(definition, options.agents ?? []);
  const recordings = await loadRecordings(definition, record);
  const experiment = await openExperiment(definition, options, cases);
  const { store, id, attempts } = experiment;
  const made: ToolRecording[] = [];
  const open = listAttempts(cases, attempts).filter((one) => !experiment.hasResult(one));
  let stopped: ErrorData | undefined;
  const stopHeartbeat = startHeartbeat(experiment.clock, () => experiment.save("running"));
  try {
    await inParallel(open, concurrency, async (one) => {
      if (signal?.aborted || stopped) return;
      const context = { store, experimentId: id, scope, getAgent, recordings, isRecording: record };
      const { getRunOptions = () => ({}) } = options;
      const ran = await runCase(definition, {
        ...{ ...one, ...context, getRunOptions },
        ...(signal && { signal }),
        ...(clock && { clock }),
      });
      if (signal?.aborted) return; // its run was cancelled: it is repeated when the experiment continues
      if (ran.result.error?.code === "quota_exceeded") {
        stopped ??= ran.result.error;
        return;
      }
      made.push(...ran.recorded);
      const done = await experiment.add(ran);
      options.onResult?.(ran.result, { done, total: cases.length * attempts });
    });
  } finally {
    await stopHeartbeat();
  }
  if (record) await writeRecordings(definition, sortRecordings(made, cases));
  if (signal?.aborted) return experiment.save(signal.reason === "interrupted" ? "interrupted" : "cancelled");
  return stopped ? experiment.save("stopped", stopped) : experiment.save("done");
}

async function loadEvalCases({ name, cases: given }: Eval): Promise<readonly EvalCase[]> {
  const cases = readCases(
    typeof given === "function" ? await given() : given,
    `the eval ${JSON.stringify(name)}`,
  );
  if (cases.length > 0) return cases;
  throw new AgentError("invalid_input", `The eval "${name}" has no cases: add one.`);
}

/** An experiment that is being made. */
interface OpenExperiment {
  readonly id: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly attempts: number;
  hasResult(attempt: Attempt): boolean;
  /** Stores a result and returns the number of results. */
  add(ran: RanCase): Promise<number>;
  save(status: Experiment["status"], error?: ErrorData): Promise<Experiment>;
}

/** Stores the start of the experiment, so that a reader sees it at once, or continues an earlier one. */
async function openExperiment(
  definition: Eval,
  options: RunEvalOptions,
  cases: readonly EvalCase[],
): Promise<OpenExperiment> {
  const { store = memory(), clock = backgroundClock, dataset, id = createId("exp_"), request } = options;
  const { attempts = definition.attempts } = options;
  const earlier = await loadEarlier(store, options.id, clock);
  const { agent } = definition;
  const scorers = definition.scorers.map(({ name }) => name);
  const results: CaseResult[] = [...(earlier?.results ?? [])];
  let agentName =
    typeof agent === "string" ? agent : typeof agent === "function" ? earlier?.agent : agent.name;
  let agentVersion = earlier?.agentVersion;

  async function save(status: Experiment["status"], error?: ErrorData): Promise<Experiment> {
    const ordered = sortResults(results, cases);
    const experiment: Experiment = {
      id,
      name: definition.name,
      ...(dataset !== undefined && { dataset }),
      agent: agentName ?? definition.name,
      ...(agentVersion !== undefined && { agentVersion }),
      status,
      ...(error && { error }),
      createdAt,
      ...(status !== "running" && { endedAt: clock.now() }),
      ...{ attempts, scorers, cases, results: ordered, summary: summarizeResults(ordered, scorers) },
    };
    const { cases: _cases, results: _results, ...info } = experiment;
    const stored = { ...info, caseCount: cases.length, ...(request !== undefined && { request }) };
    await saveExperimentInfo(store, stored, clock.now());
    return experiment;
  }

  const createdAt = earlier?.createdAt ?? clock.now();
  await saveExperimentCases(store, id, cases);
  options.onStart?.(await save("running"));
  return {
    ...{ id, store, clock, attempts, save },
    hasResult: ({ case: one, attempt }) =>
      results.some((result) => result.caseId === one.id && result.attempt === attempt),
    async add(ran) {
      agentName ??= ran.agent;
      agentVersion ??= ran.agentVersion;
      const count = results.push(ran.result);
      await saveResult(store, id, ran.result);
      return count;
    },
  };
}

async function loadEarlier(
  store: Store,
  id: string | undefined,
  clock: Clock,
): Promise<Experiment | undefined> {
  if (id === undefined) return undefined;
  try {
    return await loadExperiment(store, id, clock.now());
  } catch (thrown) {
    if (describeThrown(thrown, "store_failed").code === "not_found") return undefined;
    throw thrown;
  }
}

function createAgentGetter(
  { agent, name }: Eval,
  agents: readonly Agent[],
): (evalCase: EvalCase) => Promise<Agent> {
  return async (evalCase) => {
    if (typeof agent === "function") return agent(evalCase);
    if (typeof agent !== "string") return agent;
    const found = agents.find((one) => one.name === agent);
    if (found) return found;
    const names = agents.map((one) => one.name);
    const message = `The eval "${name}" names the agent "${agent}", which does not exist.${suggestName(agent, names)}`;
    throw new AgentError("unknown_agent", message);
  };
}

function listAttempts(cases: readonly EvalCase[], attempts: number): readonly Attempt[] {
  return cases.flatMap((one) =>
    Array.from({ length: attempts }, (_, index) => ({ case: one, attempt: index + 1 })),
  );
}

/** By case and attempt, so that the order in which parallel runs end does not matter. */
function sortResults(results: readonly CaseResult[], cases: readonly EvalCase[]): readonly CaseResult[] {
  const positions = new Map(cases.map(({ id }, index) => [id, index]));
  const getPosition = ({ caseId }: CaseResult) => positions.get(caseId) ?? cases.length;
  return results.toSorted(
    (left, right) => getPosition(left) - getPosition(right) || left.attempt - right.attempt,
  );
}

function sortRecordings(
  recordings: readonly ToolRecording[],
  cases: readonly EvalCase[],
): readonly ToolRecording[] {
  const positions = new Map(cases.map(({ id }, index) => [id, index]));
  const getPosition = ({ case: id = "" }: ToolRecording) => positions.get(id) ?? cases.length;
  return recordings.toSorted((left, right) => getPosition(left) - getPosition(right));
}

/** Runs the work for each item, `limit` items at a time. Rejects after all started ones are done. */
async function inParallel<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const workers = Array.from({ length: Math.max(1, Math.min(limit, items.length)) }, async () => {
    for (const item of queue) await work(item);
  });
  const outcomes = await Promise.allSettled(workers);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed) throw failed.reason;
}

/** Stores a sign of life regularly. The returned function waits for the last one. */
function startHeartbeat(clock: Clock, beat: () => Promise<unknown>): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  let isStopped = false;
  let cancel = (): void => undefined;
  const schedule = () => {
    cancel = clock.after(maxSilenceMs / 4, () => {
      last = beat().catch(() => undefined); // the next one, or the next result, reports the problem
      void last.then(() => isStopped || schedule());
    });
  };
  schedule();
  return async () => {
    isStopped = true;
    cancel();
    await last;
  };
}

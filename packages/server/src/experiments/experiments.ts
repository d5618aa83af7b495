import { type Agent, AgentError, isRecord, type Json } from "capstan";
import {
  claimExperiment,
  createScorer,
  defineEval,
  type EvalCase,
  type Experiment,
  type ExperimentInfo,
  listExperiments,
  loadCases,
  loadExperiment,
  runEval,
  type ScorerData,
  saveExperimentInfo,
  type ToolModes,
} from "capstan/evals";
import type { Caller } from "../access/caller.ts";
import type { Quotas } from "../access/quotas.ts";
import type { Deployment } from "../deployment.ts";
import type { AgentResolver } from "../runs/agent-resolver.ts";
import { type AttemptOptions, admitAttempt } from "./admit-attempt.ts";

/** An experiment as a request asks for it; stored with it, so that it can be continued. */
export type ExperimentRequest = {
  readonly dataset: string;
  readonly agent: string;
  /** The version of a stored agent. Default: the current one. */
  readonly version?: number | undefined;
  readonly scorers: readonly ScorerData[];
  readonly attempts?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly tools?: ToolModes | undefined;
  readonly approvals?: "simulated" | "all" | "none" | undefined;
};

/** The request with the user that the runs belong to, and the quotas at its start, as it is stored. */
type StoredRequest = ExperimentRequest & { readonly scope?: string; readonly quotas?: Quotas };

/** The experiments that this process runs in the background. */
export interface Experiments {
  /** Starts an experiment and returns it as soon as it is stored. Its runs count against the quotas of the caller. */
  start(request: ExperimentRequest, caller: Caller): Promise<ExperimentInfo>;
  /** Continues an interrupted, stopped or cancelled experiment: attempts with a result are not repeated. */
  resume(id: string, caller: Caller): Promise<ExperimentInfo>;
  /** Continues the experiments whose process is gone, unless another process does. */
  recover(): Promise<void>;
  /** Ends an experiment of this process. Rejects with `not_found`. */
  cancel(id: string): Promise<void>;
  /** Interrupts all, so that they can be continued, and waits for that. */
  close(): Promise<void>;
}

export type ExperimentsOptions = Pick<Deployment, "store" | "agents"> &
  AttemptOptions & {
    readonly resolver: Pick<AgentResolver, "get">;
    report(thrown: unknown): void;
  };

type Running = { readonly controller: AbortController; readonly ended: Promise<unknown> };

/** Experiments that one process runs at the same time. */
const maxExperiments = 4;
const recoveryIntervalMs = 30_000;

export function createExperiments(options: ExperimentsOptions): Experiments {
  const { store, report } = options;
  const running = new Map<string, Running>();

  async function open(id: string, request: ExperimentRequest, given: RunContext): Promise<ExperimentInfo> {
    if (running.size >= maxExperiments) {
      const message = `This server runs ${maxExperiments} experiments already. Wait for one of them, or cancel it.`;
      throw new AgentError("overloaded", message);
    }
    const controller = new AbortController();
    const started = Promise.withResolvers<Experiment>();
    const ended = runInBackground(options, {
      ...{ id, request, ...given, signal: controller.signal },
      onStart: started.resolve,
    });
    // Once it has started, a failure is no longer that of the request.
    let hasStarted = false;
    ended.catch((thrown: unknown) => (hasStarted ? report(thrown) : started.reject(thrown)));
    running.set(id, { controller, ended });
    const forget = () => void running.delete(id);
    ended.then(forget, forget);
    const { cases, results: _results, ...info } = await started.promise;
    hasStarted = true;
    return { ...info, caseCount: cases.length };
  }

  async function continueInterrupted(info: ExperimentInfo): Promise<void> {
    const { id } = info;
    const { scope = "", quotas = {}, ...request } = info.request as unknown as StoredRequest;
    // Another process may know the agent.
    if (!(await findAgent(options, request).catch(() => undefined))) return;
    if (!(await claimExperiment(store, id, Date.now()))) return;
    try {
      const { cases } = await loadExperiment(store, id, Date.now());
      await open(id, request, { cases, caller: { user: scope, scope, isAdmin: false, quotas } });
    } catch (thrown) {
      // It keeps its results and can be continued by hand; by itself it would fail again and again.
      await saveExperimentInfo(store, { ...info, status: "cancelled" }, Date.now());
      throw thrown;
    }
  }

  return {
    async recover() {
      for (const info of await listExperiments(store, Date.now())) {
        const isOpen = info.status === "interrupted" && isRecord(info.request) && !running.has(info.id);
        if (isOpen && running.size < maxExperiments) await continueInterrupted(info).catch(report);
      }
    },
    async start(request, caller) {
      const cases = await loadCases(store, request.dataset);
      return open(`exp_${crypto.randomUUID()}`, request, { cases, caller });
    },
    async resume(id, caller) {
      const { status, cases, request } = await loadExperiment(store, id, Date.now());
      if (status === "done" || running.has(id)) {
        const message = `The experiment "${id}" is ${running.has(id) ? "running" : "done"}: there is nothing to continue.`;
        throw new AgentError("invalid_input", message);
      }
      if (status === "running")
        throw new AgentError("invalid_input", `Another process runs the experiment "${id}".`);
      if (!isRecord(request))
        throw new AgentError(
          "invalid_input",
          `The experiment "${id}" was not started here: run its eval again.`,
        );
      const { scope: _scope, quotas: _quotas, ...asked } = request as unknown as StoredRequest;
      return open(id, asked, { cases, caller });
    },
    async cancel(id) {
      const found = running.get(id);
      if (!found) throw new AgentError("not_found", `This process does not run the experiment "${id}".`);
      found.controller.abort();
      await found.ended;
    },
    async close() {
      for (const { controller } of running.values()) controller.abort("interrupted");
      await Promise.allSettled([...running.values()].map(({ ended }) => ended));
    },
  };
}

type RunContext = { readonly cases: readonly EvalCase[]; readonly caller: Caller };

type BackgroundRun = RunContext & {
  readonly id: string;
  readonly request: ExperimentRequest;
  readonly signal: AbortSignal;
  onStart(experiment: Experiment): void;
};

function findAgent(
  { resolver, agents }: ExperimentsOptions,
  { agent: name, version }: ExperimentRequest,
): Promise<Agent> {
  return version === undefined ? resolver.get(name) : agents.agent(name, version);
}

/** Continues interrupted experiments now, and regularly until the server shuts down. */
export function startExperimentRecovery({
  experiments,
  shutdownSignal,
  report,
}: Pick<Deployment, "experiments" | "shutdownSignal" | "report">): void {
  const recover = () => void experiments.recover().catch(report);
  const timer = setInterval(recover, recoveryIntervalMs).unref();
  shutdownSignal.addEventListener("abort", () => clearInterval(timer), { once: true });
  recover();
}

async function runInBackground(options: ExperimentsOptions, run: BackgroundRun): Promise<void> {
  const { store } = options;
  const { id, request, cases, caller, signal } = run;
  const { scope, quotas } = caller;
  const { attempts = 1, concurrency = 4, tools, approvals } = request;
  const agent = await findAgent(options, request);
  const definition = defineEval({
    name: request.dataset,
    agent,
    cases,
    scorers: request.scorers.map(createScorer),
    attempts,
    ...(tools && { tools }),
    ...(approvals && { approvals }),
  });
  await runEval(definition, {
    ...{ id, scope, concurrency, signal, dataset: request.dataset },
    request: JSON.parse(JSON.stringify({ ...request, scope, quotas } satisfies StoredRequest)) as Json,
    store,
    onStart: run.onStart,
    getRunOptions: (ids) => admitAttempt(options, { ...ids, caller, signal }),
  });
}

import { AgentError, isRecord, type Json } from "capstan";
import {
  createScorer,
  defineEval,
  type EvalCase,
  type Experiment,
  type ExperimentInfo,
  loadCases,
  loadExperiment,
  runEval,
  type ScorerData,
  type ToolModes,
} from "capstan/evals";
import type { Deployment } from "../deployment.ts";
import type { AgentResolver } from "../runs/agent-resolver.ts";

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

/** The experiments that this process runs in the background. */
export interface Experiments {
  /** Starts an experiment and returns it as soon as it is stored. */
  start(request: ExperimentRequest, scope: string): Promise<ExperimentInfo>;
  /** Continues an interrupted or cancelled experiment: attempts with a result are not repeated. */
  resume(id: string, scope: string): Promise<ExperimentInfo>;
  /** Ends an experiment of this process. Rejects with `not_found`. */
  cancel(id: string): Promise<void>;
  /** Interrupts all, so that they can be continued, and waits for that. */
  close(): Promise<void>;
}

export type ExperimentsOptions = Pick<Deployment, "store" | "agents" | "getRunOptions" | "policy"> & {
  readonly resolver: Pick<AgentResolver, "get">;
  report(thrown: unknown): void;
};

type Running = { readonly controller: AbortController; readonly ended: Promise<unknown> };

/** Experiments that one process runs at the same time. */
const maxExperiments = 4;

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

  return {
    async start(request, scope) {
      const cases = await loadCases(store, request.dataset);
      return open(`exp_${crypto.randomUUID()}`, request, { cases, scope });
    },
    async resume(id, scope) {
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
      return open(id, request as unknown as ExperimentRequest, { cases, scope });
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

type RunContext = { readonly cases: readonly EvalCase[]; readonly scope: string };

type BackgroundRun = RunContext & {
  readonly id: string;
  readonly request: ExperimentRequest;
  readonly signal: AbortSignal;
  onStart(experiment: Experiment): void;
};

async function runInBackground(options: ExperimentsOptions, run: BackgroundRun): Promise<void> {
  const { store, policy, agents, getRunOptions } = options;
  const { id, request, cases, scope, signal } = run;
  const { agent: name, version, attempts = 1, concurrency = 4, tools, approvals } = request;
  const agent = version === undefined ? await options.resolver.get(name) : await agents.agent(name, version);
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
    request: JSON.parse(JSON.stringify(request)) as Json,
    store,
    onStart: run.onStart,
    getRunOptions: async ({ sessionId }) => ({
      ...(await getRunOptions({ scope, sessionId })),
      ...(policy && { policy }),
    }),
  });
}

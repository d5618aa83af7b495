import { AgentError, describeThrown } from "../base/errors.ts";
import { findApprovalRule } from "../features/approvals/approval-rules.ts";
import { findBackgroundAgent } from "../features/calls/pending-calls.ts";
import { sharesBudget, withSharedBudget } from "../features/limits/shared-budget.ts";
import { type BackgroundRuns, createBackgroundRuns } from "../features/nested/background-runs.ts";
import type { AgentRequest } from "../features/nested/call-agent.ts";
import { type Agent, type Agents, hasDynamicTools, indexAgents, type ModelChoice } from "../kernel/agent.ts";
import type { Effect, Engine, Step } from "../kernel/effect.ts";
import type { CallHooks, Io } from "../kernel/io.ts";
import type { Model } from "../kernel/model.ts";
import type { State } from "../kernel/state.ts";
import type { Tool, ToolContext } from "../kernel/tool.ts";
import { getNamedModel } from "../models/named-model.ts";
import { createDynamicTools } from "./dynamic-tools.ts";
import { createEventStream } from "./event-stream.ts";
import { createInbox } from "./inbox.ts";
import type { Log } from "./log.ts";
import { runLoop } from "./loop.ts";
import { withMaskedIo } from "./masked-io.ts";
import { buildNestedStart, createNestedLog, endNestedRun } from "./nested-run.ts";
import { perform } from "./perform.ts";
import type { RunServices } from "./services.ts";
import {
  direct,
  type Journal,
  withConcurrencyLimit,
  withJournal,
  withModelObserver,
  withModelRetry,
  withRetry,
  withTimeout,
} from "./steps.ts";

/** One run whose effects are performed. */
export type EngineContext = {
  readonly agents: Agents;
  readonly state: State;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/** Creates the engine that performs the effects of one run and executes its nested runs. */
export function createEngine(services: RunServices, context: EngineContext): Engine {
  const { state, signal } = context;
  /** Created with the first nested run. */
  let background: BackgroundRuns | undefined;
  const openBackground = () => {
    background ??= createBackground(services, context);
    return background;
  };
  const engine = direct(createStep(services, context, openBackground), signal);

  async function performWithNested(effects: readonly Effect[]): Promise<void> {
    const { update, end } = openBackground();
    update();
    if (effects.some(endsRun)) await end();
    for (const callId of effects.flatMap(getSettledCalls)) await endNestedRun(services, state, callId);
    await engine.all(effects);
    update();
  }
  return {
    whenBackgroundChanges: () =>
      background || state.run?.nested.size ? openBackground().whenChanged() : undefined,
    release: async () => background?.release(),
    all(effects) {
      // A cancelled run still records its end. A run that lost its lease or its store cannot, and would loop forever.
      if (signal.aborted && signal.reason?.code !== "cancelled") return Promise.reject(signal.reason);
      return state.run?.nested.size ? performWithNested(effects) : engine.all(effects);
    },
  };
}

function createBackground(services: RunServices, { agents, state, signal }: EngineContext): BackgroundRuns {
  return createBackgroundRuns({
    ...{ state, signal },
    async execute(callId, { signal: stopSignal, released }) {
      const run = state.run?.nested.get(callId)?.run;
      const agent = run && findBackgroundAgent(agents, run);
      if (!agent) return endNestedRun(services, state, callId);
      const { shutdownSignal = released } = services;
      const own = { ...services, shutdownSignal: AbortSignal.any([released, shutdownSignal]) };
      await continueNested(own, state, { agent, callId, signal: stopSignal });
    },
    endRun: (callId) => endNestedRun(services, state, callId),
  });
}

function endsRun(effect: Effect): boolean {
  return effect.type === "note" && effect.facts.some(({ type }) => type === "done");
}

/** Calls that get their result from a cancellation or a refusal, not from the nested run that answers them. */
function getSettledCalls(effect: Effect): readonly string[] {
  if (effect.type === "tool") return effect.refused ? [effect.callId] : [];
  if (effect.type !== "note") return [];
  return effect.facts.flatMap((fact) => (fact.type === "tool_call_result" ? fact.id : []));
}

function createStep(
  services: RunServices,
  { agents, state, log }: EngineContext,
  openBackground: () => BackgroundRuns,
): Step {
  const { store, lease, clock, context, hooks, masking, canSuspend } = services;
  const { sessionId } = state;
  const { emit } = log;
  const unmaskedIo: Io = {
    agents,
    state,
    clock,
    context,
    hooks,
    records: store,
    blobs: {
      put: (blob) => store.putBlob(sessionId, blob),
      get: (handle) => store.getBlob(sessionId, handle),
    },
    emit,
    ...(log.addRequest && { addRequest: log.addRequest }),
    resolveModel: (choice) => resolveModel(choice, hooks),
    executeIsolated,
    findApprovalRule: (scopes) => findApprovalRule(store, sessionId, scopes),
    async runNested(request, callId, signal) {
      if (!(await startNested(services, state, { request, callId }))) return false;
      if (request.isBackground) openBackground().update();
      else await continueNested(services, state, { agent: request.agent, callId, signal });
      return true;
    },
    waitForBackground: (callIds, signal) => openBackground().wait(callIds, signal, services.whenMessage()),
  };
  const io = masking ? withMaskedIo(unmaskedIo, masking) : unmaskedIo;
  const step: Step = (effect, signal) =>
    lease.isCurrent() ? perform(effect, io, signal) : lease.renew().then(() => perform(effect, io, signal));
  const attempt = withTimeout(step, clock, "timeoutMs");
  const observed = withModelObserver(attempt, services.onModelCall);
  const attempts = withModelRetry(withRetry(observed, { clock, emit }), { clock, canSuspend, emit });
  const { openBudget } = services;
  const reportStored = (stored: Promise<void>) =>
    sharesBudget(state) ? stored.then(openBudget().onStored) : stored;
  const journal: Journal = {
    append: (facts, idSuffix) => reportStored(log.append(facts, idSuffix)),
    appendResult: (facts, idSuffix) => reportStored(log.appendResult(facts, idSuffix)),
  };
  const journaled = withJournal(withTimeout(attempts, clock, "deadlineMs"), journal);
  const affordable = withSharedBudget(journaled, openBudget, {
    state,
    findAgent: (name) => agents.get(name),
  });
  return withConcurrencyLimit(affordable, state.run?.policy.maxConcurrency ?? 1);
}

async function executeIsolated(tool: Tool, input: unknown, context: ToolContext): Promise<unknown> {
  return (await import("../node/isolated-call.ts")).executeIsolated(tool, input, context);
}

function resolveModel(choice: ModelChoice, { onBeforeModel }: CallHooks): Model {
  const model = typeof choice === "string" ? getNamedModel(choice) : choice;
  try {
    return onBeforeModel?.(model) ?? model;
  } catch (thrown) {
    // The call fails like one that the model refuses, and the run records why.
    return { id: model.id, stream: () => throwOnRead(thrown) };
  }
}

// biome-ignore lint/correctness/useYield: it fails when it is read
async function* throwOnRead(thrown: unknown): AsyncGenerator<never> {
  throw thrown;
}

/**
 * Starts the run that answers a call. A run that has started or ended is not started again: its fact is stored. Returns
 * false if the budget of agents is spent.
 */
async function startNested(
  services: RunServices,
  parent: State,
  { request, callId }: { readonly request: AgentRequest; readonly callId: string },
): Promise<boolean> {
  const { run } = parent;
  if (!run || run.nested.has(callId)) return true;
  const settle = services.openBudget().reserveAgent(run);
  if (!settle) return false;
  const log = createNestedLog(services, parent, { callId, agent: request.agent.name });
  try {
    await log.append([buildNestedStart(request, run)], "start");
  } finally {
    settle();
  }
  return true;
}

type NestedCall = { readonly agent: Agent; readonly callId: string; readonly signal: AbortSignal };

/** Continues the run that answers a call, until it ends or waits. */
async function continueNested(
  services: RunServices,
  parent: State,
  { agent, callId, signal }: NestedCall,
): Promise<void> {
  const state = parent.run?.nested.get(callId);
  if (!state?.run || state.run.done) return;
  const log = createNestedLog(services, parent, { callId, agent: agent.name });
  const inbox = createInbox();
  const controller = new AbortController();
  const stop = () => {
    const { code } = signal.reason ?? {};
    // Without its lease or its store the run cannot record anything.
    if (code !== "cancelled" && code !== "tool_timeout") return controller.abort(signal.reason);
    const { message } = describeThrown(signal.reason, "cancelled");
    inbox.put({ type: "cancel", reason: message });
    controller.abort(new AgentError("cancelled", message));
  };
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const ownAgents = indexAgents(agent);
  const tools = hasDynamicTools(ownAgents) ? createDynamicTools(ownAgents) : undefined;
  const agents = tools?.agents ?? ownAgents;
  const engine = createEngine(services, { agents, state, log, signal: controller.signal });
  try {
    // This stream has no readers: events go to the stream of the root run.
    const stream = createEventStream();
    await runLoop({
      agents,
      state,
      engine,
      log,
      inbox,
      stream,
      clock: services.clock,
      tools,
      shutdownSignal: services.shutdownSignal,
      onSuspend: () => undefined,
    });
  } finally {
    signal.removeEventListener("abort", stop);
    await engine.release?.();
  }
}

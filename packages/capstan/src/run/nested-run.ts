import { type Agents, indexAgents, type ModelChoice } from "../agent.ts";
import type { Clock } from "../clock.ts";
import type { Effect, Engine, Step } from "../effect.ts";
import { AgentError, describeThrown } from "../errors.ts";
import type { FactBody } from "../event.ts";
import { eventStream } from "../loop/event-stream.ts";
import { cancelling, inbox } from "../loop/inbox.ts";
import type { HeldLease } from "../loop/lease.ts";
import type { Log, SessionLog } from "../loop/log.ts";
import { runUntilRest } from "../loop/loop.ts";
import { direct, limited, recorded, retried, timed } from "../loop/steps.ts";
import type { Model } from "../model.ts";
import { namedModel } from "../models/named-model.ts";
import type { AgentRequest } from "../perform/call-agent.ts";
import type { CallHooks, Io } from "../perform/io.ts";
import { createDynamicTools } from "../perform/live-tools.ts";
import { perform } from "../perform/perform.ts";
import { type Policy, resolvePolicy } from "../policy.ts";
import { buildCancellation } from "../rules/end-run.ts";
import type { Masking } from "../secrets/mask.ts";
import { maskedIo } from "../secrets/masked-io.ts";
import { maskedLog } from "../secrets/masked-log.ts";
import { getRootState } from "../state/nested-state.ts";
import type { RunState, State } from "../state/state.ts";
import type { Store } from "../store.ts";

/** What a run and all that are nested in it work with, while they have the session. */
export type Workshop = {
  readonly store: Store;
  readonly held: HeldLease;
  readonly clock: Clock;
  readonly context: unknown;
  readonly hooks: CallHooks;
  /** Undefined without secrets: then nothing is looked at. */
  readonly masking: Masking | undefined;
  /** Not masked. */
  readonly log: SessionLog;
  readonly leaving: AbortSignal | undefined;
};

type Work = {
  readonly agents: Agents;
  readonly state: State;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Whether it may rest until a provider can be asked again. */
  readonly canPark: boolean;
};

/** Where the effects of one run are performed, and the runs nested in it. */
export function engineFor(shop: Workshop, work: Work): Engine {
  const { state, signal } = work;
  const engine = direct(stepsFor(shop, work), signal);
  async function endingNested(effects: readonly Effect[]): Promise<void> {
    for (const callId of effects.flatMap(settledBy)) await endNested(shop, state, callId);
    await engine.all(effects);
  }
  return {
    all(effects) {
      // A cancelled run still has something to say. One that lost its lease or its store has not, and would go turn for ever.
      if (signal.aborted && signal.reason?.code !== "cancelled") return Promise.reject(signal.reason);
      return state.run?.nested.size ? endingNested(effects) : engine.all(effects);
    },
  };
}

/** The calls that get a result from elsewhere than the run that answers them: by a cancellation, or a refusal. */
function settledBy(effect: Effect): readonly string[] {
  if (effect.type === "tool") return effect.refused ? [effect.callId] : [];
  if (effect.type !== "note") return [];
  return effect.facts.flatMap((fact) => (fact.type === "tool_call_result" ? fact.id : []));
}

function stepsFor(shop: Workshop, { agents, state, log, canPark }: Work): Step {
  const { store, held, clock, context, hooks, masking } = shop;
  const { sessionId } = state;
  const blobs: Io["blobs"] = {
    put: (blob) => store.putBlob(sessionId, blob),
    get: (handle) => store.getBlob(sessionId, handle),
  };
  const nested: Io["runNested"] = (request, callId, signal) =>
    runNested(shop, state, { request, callId, signal });
  const plain: Io = {
    agents,
    state,
    clock,
    context,
    hooks,
    blobs,
    emit: log.emit,
    resolveModel: modelOf,
    runNested: nested,
  };
  const io = masking ? maskedIo(plain, masking) : plain;
  const act: Step = (effect, signal) =>
    held.isFresh() ? perform(effect, io, signal) : held.renew().then(() => perform(effect, io, signal));
  const patient = retried(timed(act, clock, "timeoutMs"), { clock, canPark, emit: log.emit });
  const bounded = timed(patient, clock, "deadlineMs");
  return limited(recorded(bounded, log), state.run?.policy.maxConcurrency ?? 1);
}

function modelOf(choice: ModelChoice): Model {
  return typeof choice === "string" ? namedModel(choice) : choice;
}

type NestedCall = { readonly request: AgentRequest; readonly callId: string; readonly signal: AbortSignal };

/** Starts the run that answers a call, or goes on with it from its own facts, until its end or until it waits. */
async function runNested(
  shop: Workshop,
  parent: State,
  { request, callId, signal }: NestedCall,
): Promise<void> {
  if (!parent.run) return;
  const { agent } = request;
  const log = logFor(shop, parent, { callId, agent: agent.name });
  if (!parent.run.nested.has(callId)) await log.append([startOf(request, parent.run)], "start");
  const state = parent.run.nested.get(callId);
  if (!state?.run || state.run.done) return;
  const told = inbox();
  const controller = new AbortController();
  const stop = () => {
    const { code } = signal.reason ?? {};
    // Without its lease or its store it has nothing more to say.
    if (code !== "cancelled" && code !== "tool_timeout") return controller.abort(signal.reason);
    const { message } = describeThrown(signal.reason, "cancelled");
    told.put(cancelling(message));
    controller.abort(new AgentError("cancelled", message));
  };
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const given = indexAgents(agent);
  const tools = createDynamicTools(given);
  const agents = tools?.agents ?? given;
  try {
    const engine = engineFor(shop, { agents, state, log, signal: controller.signal, canPark: false });
    const { leaving } = shop;
    // Nobody reads this stream: what is told goes to that of the outermost run.
    const stream = eventStream();
    await runUntilRest({
      agents,
      state,
      engine,
      log,
      inbox: told,
      stream,
      tools,
      leaving,
      rest: () => undefined,
    });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The id follows from the run and the call, so that it is the same after a crash. */
function logFor(shop: Workshop, parent: State, { callId, agent }: { callId: string; agent: string }): Log {
  const known = parent.run?.nested.get(callId)?.run;
  const log = shop.log.nested({
    runId: known?.id ?? `${getRootState(parent).run?.id}~${callId}`,
    agent,
    parentRunId: parent.run?.id ?? "",
    parentCallId: callId,
  });
  return shop.masking ? maskedLog(log, shop.masking) : log;
}

function startOf({ prompt, policy, agent }: AgentRequest, parent: RunState): FactBody {
  return {
    type: "run_start",
    input: [{ type: "user", content: prompt }],
    policy: nestedPolicy(policy, agent.policy, parent.policy),
    timeZone: parent.timeZone,
  };
}

const approvals: readonly Policy["approvals"][] = ["allow", "ask", "deny"];
const gates: readonly Policy["gate"][] = ["off", "default", "strict"];

/** The agent's own, but never looser than the caller's. The budgets of both count, see `spentBudget`. */
function nestedPolicy(own: AgentRequest["policy"], agents: AgentRequest["policy"], parent: Policy): Policy {
  const policy = resolvePolicy(own, agents, { approvals: parent.approvals, gate: parent.gate });
  return {
    ...policy,
    approvals: stricter(approvals, policy.approvals, parent.approvals),
    gate: stricter(gates, policy.gate, parent.gate),
    // It begins with nothing but its prompt, and with the labels of its caller, which no setting may put aside.
    memory: "session",
  };
}

function stricter<Choice>(order: readonly Choice[], left: Choice, right: Choice): Choice {
  return order.indexOf(left) > order.indexOf(right) ? left : right;
}

/** Ends the run that answers a call, and first those inside it. */
async function endNested(shop: Workshop, parent: State, callId: string): Promise<void> {
  const child = parent.run?.nested.get(callId);
  if (!child?.run || child.run.done) return;
  for (const inner of child.run.nested.keys()) await endNested(shop, child, inner);
  const reason = getRootState(parent).run?.cancelReason ?? "The call that it answers has ended.";
  const log = logFor(shop, parent, { callId, agent: child.run.agent });
  await log.append([{ type: "cancel_requested", reason }, ...buildCancellation(child.run, reason)], "end");
}

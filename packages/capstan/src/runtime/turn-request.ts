import { type Clock, systemClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import { splitTools } from "../features/tool-search/search-tools.ts";
import { buildModelEffect } from "../features/turns/rules.ts";
import { type Agent, type Agents, getAgent, hasDynamicTools, toToolMap } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import type { Io } from "../kernel/io.ts";
import type { ModelRequest } from "../kernel/model.ts";
import type { State } from "../kernel/state.ts";
import { defineTool } from "../kernel/tool.ts";
import { buildRequest } from "./build-request.ts";
import { createDynamicTools } from "./dynamic-tools.ts";
import { apply } from "./facts.ts";

/** The model request of a turn, rebuilt from the facts. */
export type TurnRequest = {
  readonly turn: number;
  readonly agent: string;
  /** The model that answered, or else the first candidate. */
  readonly model: string;
  /** Notes added to the instructions for this turn only; `request.instructions` ends with them. */
  readonly notes: readonly string[];
  /** Generated media have no bytes in it. */
  readonly request: ModelRequest;
  /** The deferred tools that the model had found, and how many more it could search for. */
  readonly discovered: readonly string[];
  readonly deferred: number;
  /** True if the instructions are a function. It was called again, so its result may differ from the original. */
  readonly instructionsAreRebuilt: boolean;
  /** True if the tools are dynamic. They were resolved again, so they may differ from the original. */
  readonly toolsAreRebuilt: boolean;
};

type TurnLocation = {
  /** The state before the facts; the turn must not have started in it. Changed by the call. */
  readonly state: State;
  readonly facts: readonly Fact[];
  readonly runId: string;
  readonly turn: number;
};

/** Rebuilds the request from a state and the facts that follow it, without calling a model. Throws `not_found` for an unknown turn. */
export async function buildTurnRequest(
  initialAgents: Agents,
  location: TurnLocation,
  context: unknown,
): Promise<TurnRequest> {
  const { start, state, model } = foldToTurn(location);
  const { run } = state;
  if (!run) throw createNotFoundError(location);
  const dynamicTools = hasDynamicTools(initialAgents) ? createDynamicTools(initialAgents) : undefined;
  dynamicTools?.refresh(run.agent, start.turn);
  const agents = new Map(dynamicTools?.agents ?? initialAgents);
  const agent = withRecordedTools(getAgent(agents, run.agent), state);
  agents.set(agent.name, agent);
  const { turn, tools, chain, notes } = start;
  const effect = buildModelEffect({ agent, state, run }, { turn, tools, chain, notes, candidate: 0 });
  const [first] = agent.models[chain];
  const request = await buildRequest(
    effect,
    createReadOnlyIo({ agents, state, clock: createFixedClock(start.at), context }),
  );
  const { deferred } = splitTools(agent, run.policy);
  const discovered = request.tools.flatMap(({ name, defer }) => (!defer && deferred.has(name) ? name : []));
  return {
    turn,
    agent: run.agent,
    model: model ?? (typeof first === "string" ? first : first.id),
    notes,
    request,
    discovered,
    deferred: deferred.size - discovered.length,
    instructionsAreRebuilt: typeof (run.instructions ?? agent.instructions) === "function",
    toolsAreRebuilt: agent.toolSource !== undefined,
  };
}

/** What the model had found is sent in the form in which it was found, even if the application has changed it since. */
function withRecordedTools(agent: Agent, { discovered }: State): Agent {
  const recorded = [...(discovered.get(agent.name)?.values() ?? [])];
  if (recorded.length === 0) return agent;
  const tools = new Map(agent.tools);
  for (const { name, description, input } of recorded)
    tools.set(name, { ...tools.get(name), ...defineTool({ name, description, input, defer: true }) });
  return { ...agent, ...toToolMap(agent.name, [...tools.values()]) };
}

type TurnStart = Extract<Fact, { readonly type: "turn_start" }>;
type TurnContext = { readonly start: TurnStart; readonly state: State; readonly model: string | undefined };

/** Folds the facts up to the model's answer, because the history may have been compacted after the turn started. */
function foldToTurn(location: TurnLocation): TurnContext {
  const { state, facts, runId, turn } = location;
  const isInTurn = (fact: Fact) => fact.runId === runId && fact.turn === turn;
  const start = facts.find((fact): fact is TurnStart => fact.type === "turn_start" && isInTurn(fact));
  if (!start) throw createNotFoundError(location);
  const findEnd = (...ends: readonly Fact["type"][]) =>
    facts.find((fact) => fact.seq > start.seq && fact.runId === runId && ends.includes(fact.type));
  // A turn that failed and was retried has two ends, and one message after the first.
  const message = findEnd("message", "message_partial");
  const end = message && isInTurn(message) ? message : findEnd("turn_end", "done");
  for (const fact of facts) if (!end || fact.seq < end.seq) apply(state, fact);
  const hasModel = end?.type === "message" || end?.type === "message_partial";
  const model = hasModel && isInTurn(end) ? end.model : undefined;
  return { start, state, model };
}

function createNotFoundError({ runId, turn }: TurnLocation): AgentError {
  return new AgentError("not_found", `The run "${runId}" has no turn ${turn}.`);
}

/** Stops the clock at the start of the turn, for instructions that include the time. */
const createFixedClock = (at: number): Clock => ({ ...systemClock, now: () => at });

/** Creates an `Io` that can build a request but throws on any effect. */
function createReadOnlyIo(dependencies: Pick<Io, "agents" | "state" | "clock" | "context">): Io {
  const refuseEffect = (): never => {
    throw new AgentError("internal", "Building a request must not have side effects.");
  };
  return {
    ...dependencies,
    hooks: {},
    emit: refuseEffect,
    resolveModel: refuseEffect,
    blobs: { put: refuseEffect, get: async () => undefined },
  };
}

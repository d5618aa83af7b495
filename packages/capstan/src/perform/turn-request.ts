import { type Agents, hasDynamicTools } from "../agent.ts";
import { type Clock, systemClock } from "../clock.ts";
import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import type { ModelRequest } from "../model.ts";
import { buildModelEffect } from "../rules/turns.ts";
import { fold } from "../state/apply.ts";
import type { State } from "../state/state.ts";
import { buildRequest } from "./build-request.ts";
import { createDynamicTools } from "./dynamic-tools.ts";
import { getAgent, type Io } from "./io.ts";

/** What a model was sent in a turn, made again from the facts. */
export type TurnRequest = {
  readonly turn: number;
  readonly agent: string;
  /** The one that answered, or the first one that was to. */
  readonly model: string;
  /** What was added to the instructions for this turn alone; `request.instructions` has it at its end. */
  readonly notes: readonly string[];
  readonly request: ModelRequest;
  /** The instructions are a function, which was asked again: it may say something else by now. */
  readonly instructionsAreRebuilt: boolean;
  /** The tools come and go: these are those of now. */
  readonly toolsAreRebuilt: boolean;
};

type TurnLocation = { readonly facts: readonly Fact[]; readonly runId: string; readonly turn: number };

/** The facts are those of the session. Throws `not_found` for a turn that the run has not had. Asks no model. */
export async function buildTurnRequest(
  given: Agents,
  where: TurnLocation,
  context: unknown,
): Promise<TurnRequest> {
  const { start, state, model } = foldToTurn(where);
  const { run } = state;
  if (!run) throw createNotFoundError(where);
  const dynamicTools = hasDynamicTools(given) ? createDynamicTools(given) : undefined;
  dynamicTools?.refresh(run.agent, start.turn);
  const agents = dynamicTools?.agents ?? given;
  const agent = getAgent(run.agent, { agents });
  const { turn, tools, chain, notes } = start;
  const effect = buildModelEffect({ agent, state, run }, { turn, tools, chain, notes, candidate: 0 });
  const [first] = agent.models[chain];
  return {
    turn,
    agent: run.agent,
    model: model ?? (typeof first === "string" ? first : first.id),
    notes,
    request: await buildRequest(
      effect,
      createReadOnlyIo({ agents, state, clock: createFixedClock(start.at), context }),
    ),
    instructionsAreRebuilt: typeof (run.instructions ?? agent.instructions) === "function",
    toolsAreRebuilt: agent.toolSource !== undefined,
  };
}

type TurnStart = Extract<Fact, { readonly type: "turn_start" }>;
type TurnContext = { readonly start: TurnStart; readonly state: State; readonly model: string | undefined };

/** As it was just before the model answered: a history that did not fit was made smaller until then. */
function foldToTurn(where: TurnLocation): TurnContext {
  const { facts, runId, turn } = where;
  const isInTurn = (fact: Fact) => fact.runId === runId && fact.turn === turn;
  const start = facts.find((fact): fact is TurnStart => fact.type === "turn_start" && isInTurn(fact));
  if (!start) throw createNotFoundError(where);
  const ends = ["message", "turn_end", "done"];
  const end = facts.find((fact) => fact.seq > start.seq && fact.runId === runId && ends.includes(fact.type));
  const before = facts.slice(0, end ? end.seq - 1 : facts.length);
  const model = end?.type === "message" && isInTurn(end) ? end.model : undefined;
  return { start, state: fold(start.sessionId, before), model };
}

function createNotFoundError({ runId, turn }: TurnLocation): AgentError {
  return new AgentError("not_found", `The run "${runId}" has no turn ${turn}.`);
}

/** Instructions that say what time it is say what time it was. */
const createFixedClock = (at: number): Clock => ({ ...systemClock, now: () => at });

/** A request is made of what is known alone. */
function createReadOnlyIo(known: Pick<Io, "agents" | "state" | "clock" | "context">): Io {
  const refuseEffect = (): never => {
    throw new AgentError("internal", "A request is made without reaching for anything.");
  };
  return {
    ...known,
    hooks: {},
    emit: refuseEffect,
    resolveModel: refuseEffect,
    blobs: { put: refuseEffect, get: refuseEffect },
  };
}

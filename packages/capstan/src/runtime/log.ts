import type { Clock } from "../base/clock.ts";
import { openRequestLog, type PlacedRequest } from "../features/exact-requests/request-log.ts";
import type { NewRequest } from "../features/exact-requests/stored-request.ts";
import { findRunByCall, findRunState } from "../features/nested/nested-state.ts";
import type { DeltaBody, FactBody, Origin } from "../kernel/event.ts";

import type { RunState, State } from "../kernel/state.ts";
import { createFactWriter, type FactWriterOptions, readTime, type TimedFacts } from "./fact-writer.ts";
import { createFactId } from "./facts.ts";

/** Writes the facts of one run: each fact is stored, then folded into the state, then emitted. */
export interface Log {
  /**
   * Resolves when the facts are stored and folded. `idSuffix` makes the ids of facts unique that may occur several times;
   * `acknowledged` are the keys of the stored messages that these facts deliver. Facts appended in the same tick are
   * stored together. Once the store has failed, every append rejects with that failure: nothing is emitted that is not
   * stored.
   */
  append(bodies: readonly FactBody[], idSuffix: string, acknowledged?: readonly string[]): Promise<void>;
  /**
   * Appends the result of an effect. May resolve once the facts are folded, so that the next decision can be made: they
   * are stored together with what it appends, or soon after. Until then nothing is emitted, and the next `append` waits
   * for them, so that no effect starts before. If the store fails, the state is ahead of the log and of no more use.
   */
  appendResult(bodies: readonly FactBody[], idSuffix: string): Promise<void>;
  emit(delta: DeltaBody): void;
  /** Keeps a request to a model, to be stored with the next facts. Missing if the store keeps no requests. */
  addRequest?(request: NewRequest): void;
}

/** Identifies a nested run and the call it answers. */
export type NestedOrigin = Required<Pick<Origin, "runId" | "agent" | "parentRunId" | "parentCallId">>;

/** The log of a run and its nested runs: one writer, so that all their facts have one order. */
export interface SessionLog extends Log {
  nested(origin: NestedOrigin): Log;
}

type OpenLogOptions = FactWriterOptions & {
  /** The agent of a run that has not started yet. */
  readonly agent: string;
};

export function openLog(options: OpenLogOptions): SessionLog {
  const { store, state, clock, runId, agent, emit } = options;
  const requests = openRequestLog({ store, sessionId: state.sessionId, runId, isNew: state.seq === 0 });
  const writer = createFactWriter(options, requests);

  function place(origin: RunOrigin, bodies: readonly FactBody[], idSuffix: string): TimedFacts {
    const time = readTime(clock);
    const facts = bodies.map((body, index) => {
      const owner = findOwner(state, origin, body);
      const { retries = 0 } = findRun(state, owner.runId) ?? {};
      const source = { runId: owner.runId, retries };
      const id = createFactId(body, source, index === 0 ? idSuffix : `${idSuffix}.${index}`);
      const fact = Object.assign(withOrigin(body, owner, state), { id, at: time.at });
      return retries > 0 && body.type === "tool_call_result" ? { ...fact, retry: retries } : fact;
    });
    return { facts, time };
  }

  const createRunLog = (origin: RunOrigin): Log => ({
    append: (bodies, idSuffix) => writer.write(place(origin, bodies, idSuffix)),
    appendResult: (bodies, idSuffix) => writer.writeResult(place(origin, bodies, idSuffix)),
    emit: (delta) => emit(withOrigin(delta, origin, state)),
    ...(requests && {
      addRequest: (request) => requests.add(placeRequest(request, origin, { state, clock })),
    }),
  });
  const self = { runId, agent };
  return {
    ...createRunLog(self),
    append(bodies, idSuffix, acknowledged = []) {
      // A message for a nested run also wakes this run: processes that look for work only see the root run.
      const hasNested = state.run !== undefined && state.run.nested.size > 0;
      const isForNested = hasNested && bodies.some((body) => findOwner(state, self, body) !== self);
      const placed = place(self, isForNested ? [{ type: "woken" }, ...bodies] : bodies, idSuffix);
      return writer.write(placed, acknowledged);
    },
    nested: createRunLog,
  };
}

function findRun(state: State, runId: string): RunState | undefined {
  return state.run?.id === runId ? state.run : findRunState(state, runId)?.run;
}

/** Fields are written out instead of spread: this runs for every fact and every delta. */
function withOrigin<Body extends FactBody | DeltaBody>(
  body: Body,
  origin: RunOrigin,
  state: State,
): Body & Origin {
  const run = findRun(state, origin.runId);
  const turn = body.type === "turn_start" ? body.turn : (run?.turn ?? 0);
  const { runId, parentRunId, parentCallId } = origin;
  const agent = run?.agent ?? origin.agent;
  const located = { ...body, runId, sessionId: state.sessionId, agent, turn };
  if (parentRunId === undefined || parentCallId === undefined) return located;
  return { ...located, parentRunId, parentCallId };
}

function placeRequest(
  request: NewRequest,
  { runId, agent }: RunOrigin,
  { state, clock }: { readonly state: State; readonly clock: Clock },
): PlacedRequest {
  const run = findRun(state, runId);
  return { ...request, runId, turn: run?.turn ?? 0, agent: run?.agent ?? agent, at: clock.now() };
}

type RunOrigin = Pick<Origin, "runId" | "agent" | "parentRunId" | "parentCallId">;

/** The run a fact belongs to: an answer to a call of a nested run belongs to that nested run. */
function findOwner({ run }: State, self: RunOrigin, body: FactBody): RunOrigin {
  if (run?.id !== self.runId || run.nested.size === 0) return self;
  if (body.type !== "approval_resolved" && body.type !== "tool_call_result") return self;
  const owner = findRunByCall(run, body.type === "tool_call_result" ? body.id : body.callId);
  if (!owner?.parent?.state.run) return self;
  const { state, callId } = owner.parent;
  return { runId: owner.id, agent: owner.agent, parentRunId: state.run?.id ?? "", parentCallId: callId };
}

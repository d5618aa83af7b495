import { type Agent, AgentError, type Event, type Fact } from "capstan";
import { isInRun, subscribe } from "capstan/sessions";
import type { Caller } from "../../access/caller.ts";
import type { Deployment } from "../../deployment.ts";
import { toClientError } from "../client-error.ts";
import { formatResponseId, type RunSegment } from "./ids.ts";
import { isSuspension, type ResponseOptions } from "./response-encoder.ts";

/** A segment of a stored run. */
export type StoredSegment = RunSegment & { readonly sessionId: string };

/** `events` yields the run's events from the start; it ends only on shutdown or with `stop`. */
export type FollowedSegment = StoredSegment & {
  readonly events: AsyncGenerator<Event, void, undefined>;
  /** Stops reading; the run continues. */
  stop(): void;
};

/** Subscribes to a session, performs `act`, and follows the resulting segment. */
export async function followSegment(
  { store, shutdownSignal }: Deployment,
  sessionId: string,
  act: () => Promise<RunSegment>,
): Promise<FollowedSegment> {
  const past = await store.read(sessionId);
  // Subscribe before the run starts, because deltas are not stored.
  const live = subscribe(store, { sessionId, after: past.at(-1)?.seq ?? 0 }, { signal: shutdownSignal });
  const first = live.next();
  first.catch(() => undefined); // reported to the reader of the events
  const stop = () => void live.return?.();
  try {
    const { runId, segment } = await act();
    return { runId, segment, sessionId, stop, events: readRunEvents(runId, { past, live, first }) };
  } catch (thrown) {
    stop();
    throw thrown;
  }
}

type EventSources = {
  readonly past: readonly Fact[];
  readonly live: AsyncIterableIterator<Event, void, undefined>;
  readonly first: Promise<IteratorResult<Event, void>>;
};

async function* readRunEvents(
  runId: string,
  { past, live, first }: EventSources,
): AsyncGenerator<Event, void, undefined> {
  const isOwnEvent = (event: Event) => isInRun(event as Fact, runId);
  try {
    yield* past.filter(isOwnEvent);
    for (let { done, value } = await first; !done && value; { done, value } = await live.next())
      if (isOwnEvent(value)) yield value;
  } finally {
    void live.return?.();
  }
}

/** Counts how often a run has suspended to wait for input. */
export function countSuspensions(facts: readonly Fact[], runId: string): number {
  return facts.filter((fact) => fact.runId === runId && isSuspension(fact)).length;
}

/** Loads the data of a segment. Throws `unknown_run` if the run has not reached it. */
export async function loadResponse(
  { store, findAgent }: Deployment,
  caller: Caller,
  { runId, segment }: RunSegment,
): Promise<ResponseOptions & { readonly facts: readonly Fact[] }> {
  const sessionId = (await store.findSession(runId)) ?? "";
  const facts = await store.read(sessionId);
  const starts = facts.filter((fact) => fact.type === "run_start" && fact.parentRunId === undefined);
  const index = starts.findIndex((fact) => fact.runId === runId);
  const start = starts[index];
  const own = facts.filter((fact) => isInRun(fact, runId));
  const rests = countSuspensions(facts, runId);
  const isBegun =
    segment <= rests || !own.at(-1) || !isSuspension(own.at(-1) as Fact) || (await hasMessages());
  if (!start || segment > rests + 1 || !isBegun)
    throw new AgentError("unknown_run", `Response not found: "${formatResponseId({ runId, segment })}".`);
  const before = starts[index - 1]?.runId;
  const agent = await findAgent(start.agent);

  async function hasMessages(): Promise<boolean> {
    return (await store.listMessages(runId)).length > 0;
  }
  return {
    facts: own,
    id: formatResponseId({ runId, segment }),
    place: { runId, segment },
    model: start.agent.replace(/\+tools_[\w-]+$/, ""),
    sessionId,
    previousId:
      segment > 1
        ? formatResponseId({ runId, segment: segment - 1 })
        : before && formatResponseId({ runId: before, segment: countSuspensions(facts, before) + 1 }),
    functions: agent ? listClientTools(agent) : new Set(),
    isFormed: agent?.output !== undefined,
    showError: (error) => toClientError(error, caller, runId),
  };
}

/** Returns the names of the agent's client-side tools. */
export function listClientTools(agent: Agent): ReadonlySet<string> {
  const tools = agent.toolSource?.() ?? [...agent.tools.values()];
  return new Set(tools.filter(({ execute }) => execute === undefined).map(({ name }) => name));
}

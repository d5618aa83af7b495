import { type Agent, AgentError, type Event, type Fact, type Store } from "capstan";
import { isInRun, loadRunFacts, subscribe } from "capstan/sessions";
import type { Caller } from "../../access/caller.ts";
import type { Deployment } from "../../deployment.ts";
import { isServerTool } from "../client-agent.ts";
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
  const { facts: position = 0 } = (await store.getSession(sessionId)) ?? {};
  // Subscribe before the run starts, because deltas are not stored.
  const live = subscribe(store, { sessionId, after: position }, { signal: shutdownSignal });
  const first = live.next();
  first.catch(() => undefined); // reported to the reader of the events
  const stop = () => void live.return?.();
  try {
    const { runId, segment } = await act();
    const past = (await loadRunFacts(store, runId)).filter((fact) => fact.seq <= position);
    return { runId, segment, sessionId, stop, events: readRunEvents(runId, { past, live, first }) };
  } catch (thrown) {
    stop();
    throw thrown;
  }
}

type EventSources = {
  /** The facts of the run up to the position that `live` follows. */
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
    yield* past;
    for (let { done, value } = await first; !done && value; { done, value } = await live.next())
      if (isOwnEvent(value)) yield value;
  } finally {
    void live.return?.();
  }
}

/** Counts how often a run has suspended to wait for input. */
function countSuspensions(facts: readonly Fact[], runId: string): number {
  return facts.filter((fact) => fact.runId === runId && isSuspension(fact)).length;
}

/** Counts how often a stored run has suspended to wait for input. */
export async function countStoredSuspensions(store: Store, runId: string): Promise<number> {
  return countSuspensions(await loadRunFacts(store, runId), runId);
}

/** Loads the data of a segment. Throws `unknown_run` if the run has not reached it. */
export async function loadResponse(
  { store, findAgent }: Deployment,
  caller: Caller,
  { runId, segment }: RunSegment,
): Promise<ResponseOptions & { readonly facts: readonly Fact[] }> {
  const sessionId = (await store.findSession(runId)) ?? "";
  const runs = await store.listRuns(sessionId);
  const index = runs.findIndex((run) => run.runId === runId);
  // A message is either still pending or already in the log; reading in this order cannot miss it.
  const hasMessages = (await store.listMessages(runId)).length > 0;
  const own = index === -1 ? [] : await loadRunFacts(store, runId);
  const [start] = own;
  const rests = countSuspensions(own, runId);
  const last = own.at(-1);
  const isBegun = segment <= rests || !last || !isSuspension(last) || hasMessages;
  if (!start || segment > rests + 1 || !isBegun)
    throw new AgentError("unknown_run", `Response not found: "${formatResponseId({ runId, segment })}".`);
  const before = runs[index - 1]?.runId;
  const agent = await findAgent(start.agent);
  return {
    facts: own,
    id: formatResponseId({ runId, segment }),
    place: { runId, segment },
    model: start.agent.replace(/\+tools_[\w-]+$/, ""),
    sessionId,
    settings: start.type === "run_start" ? start.settings : undefined,
    previousId:
      segment > 1
        ? formatResponseId({ runId, segment: segment - 1 })
        : before &&
          formatResponseId({ runId: before, segment: (await countStoredSuspensions(store, before)) + 1 }),
    functions: agent ? listClientTools(agent) : new Set(),
    isFormed: agent?.output !== undefined,
    showError: (error) => toClientError(error, caller, runId),
  };
}

/** Returns the names of the agent's client-side tools. */
export function listClientTools(agent: Agent): ReadonlySet<string> {
  const tools = agent.toolSource?.() ?? [...agent.tools.values()];
  return new Set(tools.filter((tool) => !isServerTool(tool)).map(({ name }) => name));
}

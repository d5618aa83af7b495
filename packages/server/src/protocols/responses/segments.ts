import { type Agent, AgentError, type Event, type Fact } from "capstan";
import { isInRun, subscribe } from "capstan/sessions";
import type { Caller } from "../../access/caller.ts";
import type { Deployment } from "../../deployment.ts";
import { shownError } from "../client-error.ts";
import { type RunLeg, responseId } from "./ids.ts";
import { isRest, type ResponseOptions } from "./response-encoder.ts";

/** One leg of a run that is kept, and the session that keeps it. */
export type KeptLeg = RunLeg & { readonly sessionId: string };

/** The events of the run from its first on; it never ends by itself, unless the server leaves. */
export type FollowedLeg = KeptLeg & {
  readonly events: AsyncGenerator<Event, void, undefined>;
  /** Nobody reads it any more; the run goes on. */
  stop(): void;
};

/** Listens to a session, then lets something be done in it, and follows the leg of the run that comes of it. */
export async function followLeg(
  { store, leaving }: Deployment,
  sessionId: string,
  act: () => Promise<RunLeg>,
): Promise<FollowedLeg> {
  const past = await store.read(sessionId);
  // Listened to before it begins: what is said meanwhile is not stored word by word.
  const live = subscribe(store, { sessionId, after: past.at(-1)?.seq ?? 0 }, { signal: leaving });
  const first = live.next();
  first.catch(() => undefined); // told to whoever reads on
  const stop = () => void live.return?.();
  try {
    const { runId, leg } = await act();
    return { runId, leg, sessionId, stop, events: eventsOf(runId, { past, live, first }) };
  } catch (thrown) {
    stop();
    throw thrown;
  }
}

type Sources = {
  readonly past: readonly Fact[];
  readonly live: AsyncIterableIterator<Event, void, undefined>;
  readonly first: Promise<IteratorResult<Event, void>>;
};

async function* eventsOf(
  runId: string,
  { past, live, first }: Sources,
): AsyncGenerator<Event, void, undefined> {
  const isOf = (event: Event) => isInRun(event as Fact, runId);
  try {
    yield* past.filter(isOf);
    for (let { done, value } = await first; !done && value; { done, value } = await live.next())
      if (isOf(value)) yield value;
  } finally {
    void live.return?.();
  }
}

/** How often a run has waited for somebody. */
export function restsOf(facts: readonly Fact[], runId: string): number {
  return facts.filter((fact) => fact.runId === runId && isRest(fact)).length;
}

/** What a leg of a run is told as. Throws `unknown_run` for one that the run has not come to. */
export async function responseOf(
  { store, findAgent }: Deployment,
  caller: Caller,
  { runId, leg }: RunLeg,
): Promise<ResponseOptions & { readonly facts: readonly Fact[] }> {
  const sessionId = (await store.findSession(runId)) ?? "";
  const facts = await store.read(sessionId);
  const starts = facts.filter((fact) => fact.type === "run_start" && fact.parentRunId === undefined);
  const index = starts.findIndex((fact) => fact.runId === runId);
  const start = starts[index];
  const own = facts.filter((fact) => isInRun(fact, runId));
  const rests = restsOf(facts, runId);
  const isBegun = leg <= rests || !own.at(-1) || !isRest(own.at(-1) as Fact) || (await isTold());
  if (!start || leg > rests + 1 || !isBegun)
    throw new AgentError("unknown_run", `There is no response "${responseId({ runId, leg })}".`);
  const before = starts[index - 1]?.runId;
  const agent = await findAgent(start.agent);

  async function isTold(): Promise<boolean> {
    return (await store.listMessages(runId)).length > 0;
  }
  return {
    facts: own,
    id: responseId({ runId, leg }),
    place: { runId, leg },
    model: start.agent.replace(/\+tools_[\w-]+$/, ""),
    sessionId,
    previousId:
      leg > 1
        ? responseId({ runId, leg: leg - 1 })
        : before && responseId({ runId: before, leg: restsOf(facts, before) + 1 }),
    functions: agent ? functionsOf(agent) : new Set(),
    isFormed: agent?.output !== undefined,
    showError: (error) => shownError(error, caller, runId),
  };
}

/** What only the client of an agent can run. */
export function functionsOf(agent: Agent): ReadonlySet<string> {
  const tools = agent.toolSource?.() ?? [...agent.tools.values()];
  return new Set(tools.filter(({ execute }) => execute === undefined).map(({ name }) => name));
}

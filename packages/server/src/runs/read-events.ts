import { AgentError, type Event, type Fact, type Store } from "capstan";
import { filterEvent, type StreamMode } from "capstan/client";
import { isInRun, subscribe } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { eventFrame, eventStream, mostUnread } from "../http/event-stream.ts";

/** Which events somebody wants to read, and from where. */
export type Reading = {
  readonly request: Request;
  readonly caller: Caller;
  readonly sessionId: string;
  /** Left out: those of the whole session. */
  readonly runId?: string;
  readonly after: number;
  readonly stream: StreamMode;
};

const mostFacts = 1000;

/** The events as a stream; the stored facts as JSON for somebody who wants nothing else. */
export async function readEvents(reading: Reading, deployment: Deployment): Promise<Response> {
  const { request, caller, sessionId, runId, after, stream } = reading;
  const { store, allowance, leaving } = deployment;
  await assertPosition(store, sessionId, after);
  if (wantsJson(request)) return Response.json(await page(store, reading));
  const onClose = allowance.take(caller, "streams");
  const of = runId === undefined ? { sessionId } : { runId };
  const events = subscribe(store, { ...of, after }, { maxBuffered: mostUnread });
  const frame = (event: Event) => filterEvent(event, stream).map(eventFrame).join("");
  return eventStream({ events, leaving, onClose, frame: stream === "all" ? eventFrame : frame });
}

/** A stream that has begun could not say with a status that there is no such place. */
async function assertPosition(store: Store, sessionId: string, after: number): Promise<void> {
  if (after === 0) return;
  const { facts = 0 } = (await store.getSession(sessionId)) ?? {};
  if (after <= facts) return;
  const message = `There is no event ${after}: the last one is ${facts}. Give the id of one that was read from here.`;
  throw new AgentError("invalid_input", message);
}

function wantsJson(request: Request): boolean {
  const types = (request.headers.get("accept") ?? "").split(",").map((type) => type.split(";")[0]?.trim());
  return types.every((type) => type === "application/json");
}

type Page = { readonly facts: readonly Fact[]; readonly next?: number };

async function page(store: Store, { sessionId, runId, after }: Reading): Promise<Page> {
  const stored = await store.read(sessionId, after);
  const wanted = runId === undefined ? stored : stored.filter((fact) => isInRun(fact, runId));
  const facts = wanted.slice(0, mostFacts);
  const last = facts.at(-1);
  return { facts, ...(facts.length < wanted.length && last && { next: last.seq }) };
}

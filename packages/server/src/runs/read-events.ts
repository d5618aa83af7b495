import { AgentError, type Event, type Fact, type Store } from "capstan";
import { filterEvent, type StreamMode } from "capstan/client";
import { readRunFacts, subscribe } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { findView } from "../event-views/find-view.ts";
import { createViewFormatter, parseViewPosition } from "../event-views/view-formatter.ts";
import { formatEventFrame, maxUnread, streamEvents } from "../http/event-stream.ts";

export type ReadEventsOptions = {
  readonly request: Request;
  readonly caller: Caller;
  readonly sessionId: string;
  /** Omit for all runs of the session. */
  readonly runId?: string;
  readonly after: number;
  readonly stream: StreamMode;
  /** Name of a view of the events. */
  readonly view: string | undefined;
};

const maxFacts = 1000;

/** Streams events, or returns stored facts as JSON if the client accepts only JSON. */
export async function readEvents(options: ReadEventsOptions, deployment: Deployment): Promise<Response> {
  const { request, caller, sessionId, runId, after, stream, view } = options;
  const { store, quota, shutdownSignal, sseLog } = deployment;
  await assertPosition(store, sessionId, after);
  const viewStream = view === undefined ? undefined : await openView(view, options, deployment);
  if (wantsJson(request)) return Response.json(await readPage(store, options));
  const { start, format } = viewStream ?? { start: after, format: formatEventFrame };
  const onClose = quota.acquire(caller, "streams");
  const source = runId === undefined ? { sessionId } : { runId };
  const events = subscribe(store, { ...source, after: start }, { maxBuffered: maxUnread });
  const formatFiltered = (event: Event) => filterEvent(event, stream).map(format).join("");
  return streamEvents({
    ...{ events, clientSignal: request.signal, shutdownSignal, sseLog, onClose },
    formatFrame: stream === "all" ? format : formatFiltered,
  });
}

/** Where to start reading for a view, and how to format what is read. */
type ViewStream = { readonly start: number; readonly format: (event: Event) => string };

/** A view is fed from the first event of a run, also when its reader continues in the middle. */
async function openView(
  name: string,
  { request, sessionId, runId, after }: ReadEventsOptions,
  { store, eventViews }: Deployment,
): Promise<ViewStream> {
  const view = findView(name, eventViews);
  if (wantsJson(request))
    throw new AgentError("invalid_input", "A view of the events is a stream: accept `text/event-stream`.");
  const position = parseViewPosition(request.headers.get("last-event-id"), after);
  const start = runId === undefined ? await findRunStart(store, sessionId, after) : 0;
  return { start, format: createViewFormatter({ view, after: position }) };
}

/** Returns the position before the run that contains a fact. */
async function findRunStart(store: Store, sessionId: string, seq: number): Promise<number> {
  const [fact] = seq > 0 ? await store.read(sessionId, seq - 1, 1) : [];
  if (!fact) return 0;
  const { runId, parentRunId } = fact;
  const root = parentRunId === undefined ? runId : runId.slice(0, runId.indexOf("~"));
  return ((await store.findRun(root))?.firstSeq ?? 1) - 1;
}

/** Checked first, because a stream that has started can no longer fail with a status. */
async function assertPosition(store: Store, sessionId: string, after: number): Promise<void> {
  if (after === 0) return;
  const { facts = 0 } = (await store.getSession(sessionId)) ?? {};
  if (after <= facts) return;
  const message = `Event ${after} does not exist; the last one is ${facts}. Pass the id of an event of this stream.`;
  throw new AgentError("invalid_input", message);
}

function wantsJson(request: Request): boolean {
  const types = (request.headers.get("accept") ?? "").split(",").map((type) => type.split(";")[0]?.trim());
  return types.every((type) => type === "application/json");
}

type FactPage = { readonly facts: readonly Fact[]; readonly next?: number };

async function readPage(store: Store, { sessionId, runId, after }: ReadEventsOptions): Promise<FactPage> {
  const found =
    runId === undefined
      ? await store.read(sessionId, after, maxFacts + 1)
      : await readFirstFacts(store, runId, after);
  const facts = found.slice(0, maxFacts);
  const last = facts.at(-1);
  return { facts, ...(facts.length < found.length && last && { next: last.seq }) };
}

/** Reads more facts of a run than fit on a page, if there are as many. */
async function readFirstFacts(store: Store, runId: string, after: number): Promise<readonly Fact[]> {
  const run = await store.findRun(runId);
  const facts: Fact[] = [];
  if (run)
    for await (const page of readRunFacts(store, run, after)) if (facts.push(...page) > maxFacts) break;
  return facts;
}

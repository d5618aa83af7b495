import { type Entry, type ErrorData, type Event, isModelError, type Result, type Store } from "capstan";
import type { Deployment } from "../deployment.ts";
import type { EphemeralSegment } from "../runs/ephemeral-runs.ts";
import { isInternal, summarizeCode, toClientError } from "./client-error.ts";

/*
 * Users who are not admins get the codes of internal errors, but not their messages: a provider's message may name the
 * operator's account, key or URL. Nor do they get the instructions of agents, or the exact requests, which contain them.
 * All routes read through one deployment, so all of this is replaced there.
 */

/** Returns the deployment as users see it who are not admins. */
export function withHiddenInternals(deployment: Deployment): Deployment {
  const { store, engine, ephemeralRuns } = deployment;
  return {
    ...deployment,
    store: overrideStore(store, {
      read: async (...range) => (await store.read(...range)).map(hideErrors),
      watch: (sessionId, onNotice) =>
        store.watch(sessionId, (notice) => {
          const isRetry =
            notice.type === "deltas" && notice.deltas.some(({ delta }) => delta.type === "retry");
          if (!isRetry) return onNotice(notice);
          const deltas = notice.deltas.map(({ after, delta }) => ({ after, delta: hideErrors(delta) }));
          onNotice({ ...notice, deltas });
        }),
    }),
    engine: {
      ...engine,
      getResult: async (runId) => hideResultErrors(await engine.getResult(runId)),
      async getTurnRequest(...turn) {
        const sent = await engine.getTurnRequest(...turn);
        const history = sent.request.history.map(hideEntryError);
        return { ...sent, request: { ...sent.request, instructions: "", history } };
      },
    },
    async loadRequests(turn) {
      const requests = await deployment.loadRequests(turn);
      // The address of the provider may name the operator's account.
      return requests.map((request) => ({ ...request, ...{ url: "", headers: {}, body: "" } }));
    },
    ephemeralRuns: {
      ...ephemeralRuns,
      start: async (caller, request) => hideSegmentErrors(await ephemeralRuns.start(caller, request)),
      async resume(caller, given) {
        const segment = await ephemeralRuns.resume(caller, given);
        return segment && hideSegmentErrors(segment);
      },
    },
  };
}

/** Replaces methods of a store. A spread would lose the methods of a store that is an instance of a class. */
function overrideStore(store: Store, overrides: Partial<Store>): Store {
  return new Proxy({} as Store, {
    get(_, name) {
      if (Object.hasOwn(overrides, name)) return Reflect.get(overrides, name);
      const value: unknown = Reflect.get(store, name);
      return typeof value === "function" ? value.bind(store) : value;
    },
  });
}

function hideSegmentErrors({ events, result, ...segment }: EphemeralSegment): EphemeralSegment {
  async function* readEvents(): AsyncGenerator<Event, void, undefined> {
    for await (const event of events) yield hideErrors(event);
  }
  const hidden = result.then(hideResultErrors);
  hidden.catch(() => undefined); // reported to the reader of the events or of the result
  return { ...segment, events: readEvents(), result: hidden };
}

/** Replaces the messages of internal errors in an event. Returns the same event if it contains none. */
export function hideErrors<Shown extends Event>(event: Shown): Shown;
export function hideErrors(event: Event): Event {
  switch (event.type) {
    case "done":
      return event.status === "failed" ? hideEnd(event) : event;
    case "error":
      return isInternal(event.code) ? { ...event, message: summarizeCode(event.code) } : event;
    case "retry":
      return isModelError(event.code) ? { ...event, message: summarizeCode(event.code) } : event;
    case "model_failed":
      return { ...event, error: hideMessage(event.error) };
    case "turn_summary":
      return event.error ? { ...event, error: hideMessage(event.error) } : event;
    case "tool_call_result": {
      if (!event.error || !isModelError(event.error.code)) return event;
      const error = hideMessage(event.error);
      return { ...event, result: error.message, error };
    }
    default:
      return event;
  }
}

type Ended = Extract<Event, { readonly type: "done" }>;

function hideEnd(event: Ended): Ended {
  const { error, text, runId, parentRunId } = event;
  if (!error || !isInternal(error.code)) return event;
  // Only the failure of the whole run is in the log.
  const { message } =
    parentRunId === undefined ? toClientError(error, { isAdmin: false }, runId) : hideMessage(error);
  return { ...event, text: replaceText(text, error, message), error: { ...error, message } };
}

function hideMessage(error: ErrorData): ErrorData {
  return isInternal(error.code) ? { ...error, message: summarizeCode(error.code) } : error;
}

function replaceText(text: string, { message }: { readonly message: string }, replacement: string): string {
  return message === "" ? text : text.replaceAll(message, () => replacement);
}

/** A tool that calls a model fails with its provider's message. The messages of tools themselves are for the user. */
function hideEntryError(entry: Entry): Entry {
  if (entry.type !== "result" || !entry.error || !isModelError(entry.error.code)) return entry;
  const message = summarizeCode(entry.error.code);
  return { ...entry, content: message, error: { ...entry.error, message } };
}

/** Replaces the messages of internal errors in the result of a run. */
export function hideResultErrors(result: Result): Result {
  const { error, outage, runId } = result;
  const history = result.history.map(hideEntryError);
  const failures = new Map(
    history.flatMap((entry) =>
      entry.type === "result" && entry.error ? [[entry.callId, entry.content] as const] : [],
    ),
  );
  const toolCalls = result.toolCalls.map((call) => ({
    ...call,
    result: failures.get(call.id) ?? call.result,
  }));
  const clean = { ...result, history, toolCalls };
  if (outage) {
    const hidden = hideMessage(outage.error);
    const text = replaceText(result.text, outage.error, hidden.message);
    return { ...clean, text, outage: { ...outage, error: hidden } };
  }
  if (!error || result.status !== "failed" || !isInternal(error.code)) return clean;
  const { message } = toClientError(error, { isAdmin: false }, runId);
  return { ...clean, text: replaceText(result.text, error, message), error: { ...error, message } };
}

import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import { createId } from "../ids.ts";
import type { Store } from "../store.ts";
import { buildRunIds, writeSessionCopy } from "./copy-session.ts";
import { loadFacts } from "./load-facts.ts";
import { refuseOpenCalls } from "./suspend-facts.ts";
import { addForkSuffix, getTitle } from "./title.ts";

export type ForkOptions = {
  /** Id of the new session. Default: a generated id. */
  readonly id?: string;
  /** Title of the new session. Default: the original title with a suffix. */
  readonly title?: string;
};

/** Creates a session with the facts up to and including position `at`. Returns its id. */
export async function fork(
  store: Store,
  sessionId: string,
  { at, id = createId("ses_"), title }: ForkOptions & { readonly at: number },
): Promise<string> {
  const facts = await loadFacts(store, sessionId);
  assertPosition(facts, at);
  await writeFork(store, {
    sessionId,
    id,
    facts: facts.slice(0, at),
    title: title ?? (await createForkTitle(store, facts)),
  });
  return id;
}

/** Writes facts of a session, with the blobs they refer to, as a new session. */
export async function writeFork(
  store: Store,
  options: {
    readonly sessionId: string;
    readonly id: string;
    readonly facts: readonly Fact[];
    readonly title: string;
  },
): Promise<void> {
  const { sessionId, id, title, facts } = options;
  await writeSessionCopy(store, {
    id,
    title,
    // Approvals are bound to the original run.
    facts: refuseOpenCalls(facts, (call) => call.check?.approval !== undefined),
    runIds: buildRunIds(id, facts),
    loadBlob: (handle) => store.getBlob(sessionId, handle),
  });
}

/** Returns the default title for a fork of the session with these facts. */
export async function createForkTitle(store: Store, facts: readonly Fact[]): Promise<string> {
  const info = await store.getSession(facts[0]?.sessionId ?? "");
  return addForkSuffix(getTitle(facts, info?.title));
}

/** Throws `invalid_input` for a position without a fact. */
export function assertPosition(facts: readonly Fact[], at: number): void {
  if (Number.isInteger(at) && at >= 1 && at <= facts.length) return;
  const [first] = facts;
  const message = first
    ? `Session "${first.sessionId}" has no fact at ${at}. Valid positions are 1 to ${facts.length}.`
    : `The session has no fact at ${at}: it is empty.`;
  throw new AgentError("invalid_input", message);
}

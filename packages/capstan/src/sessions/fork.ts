import { AgentError } from "../errors.ts";
import type { Fact } from "../event.ts";
import { createId } from "../ids.ts";
import type { Store } from "../store.ts";
import { buildRunIds, writeSessionCopy } from "./copy-session.ts";
import { loadFacts } from "./load-facts.ts";
import { refuseOpenCalls } from "./suspend-facts.ts";
import { addForkSuffix, getTitle } from "./title.ts";

/** Settings of a fork. */
export type ForkOptions = {
  /** Of the new session; one that nobody has when left out. */
  readonly id?: string;
  /** What it is called; the title of the first with a mark when left out. */
  readonly title?: string;
};

/** Makes a new session of the facts up to and with the one at position `at`, and gives its id. */
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

/** Writes facts of a session as a new one, with all they need. */
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
    // An approval is bound to its run, and this is another one.
    facts: refuseOpenCalls(facts, (call) => call.check?.approval !== undefined),
    runIds: buildRunIds(id, facts),
    loadBlob: (handle) => store.getBlob(sessionId, handle),
  });
}

/** What a fork of the session with these facts is called. */
export async function createForkTitle(store: Store, facts: readonly Fact[]): Promise<string> {
  const info = await store.getSession(facts[0]?.sessionId ?? "");
  return addForkSuffix(getTitle(facts, info?.title));
}

/** Refuses a position where there is no fact. */
export function assertPosition(facts: readonly Fact[], at: number): void {
  if (Number.isInteger(at) && at >= 1 && at <= facts.length) return;
  const [first] = facts;
  const message = first
    ? `The session "${first.sessionId}" has no fact at ${at}: its facts are at 1 to ${facts.length}.`
    : `The session has no fact at ${at}, nor any other yet.`;
  throw new AgentError("invalid_input", message);
}

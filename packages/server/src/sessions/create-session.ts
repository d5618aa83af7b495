import type { Fact } from "capstan";
import { session } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { type Keyed, type Once, once, otherRequest, rememberAsked, wasAsked } from "../runs/idempotency.ts";
import { newSessionId } from "../runs/start-run.ts";
import { rememberFork } from "./branches.ts";
import { importFile } from "./import-session.ts";

/** Whose a new session is, and what makes its id the same for the same request. */
export type Making = { readonly caller: Caller; readonly key: string | undefined };

/** What a new session begins with: nothing but a title, or all that is in an exported one. */
export type NewSession = { readonly title?: string | undefined; readonly file?: string | undefined };

/** Makes a session. Whatever ids are in a file, it is the caller's, and so are its runs. */
export function makeSession(
  deployment: Deployment,
  { caller, key }: Making,
  { title, file }: NewSession,
): Promise<Once<string>> {
  const { store } = deployment;
  const id = newSessionId(caller.scope, key);
  const keyed: Keyed = { sessionId: id, id: "session", request: { title, file } };
  return once(deployment, {
    id,
    async find() {
      const info = await store.getSession(id);
      if (!info) return undefined;
      if (await wasAsked(store, keyed)) return id;
      const isSame = file === undefined ? info.facts === 0 : isCopy(await store.read(id), factsIn(file));
      if (!isSame || (title !== undefined && (info.title ?? "") !== title)) throw otherRequest();
      return id;
    },
    async make() {
      if (file === undefined) await store.create(id, title);
      else {
        await importFile(deployment, caller, { id, file });
        if (title !== undefined) await store.rename(id, title);
      }
      if (key !== undefined) await rememberAsked(store, keyed);
      return id;
    },
  });
}

type Forking = { readonly sessionId: string; readonly at: number; readonly title?: string | undefined };

/** Makes a session of the beginning of another. */
export function forkSession(
  deployment: Deployment,
  { caller, key }: Making,
  { sessionId, at, title }: Forking,
): Promise<Once<string>> {
  const { store } = deployment;
  const id = newSessionId(caller.scope, key);
  const keyed: Keyed = { sessionId: id, id: "session", request: { sessionId, at, title } };
  return once(deployment, {
    id,
    async find() {
      const info = await store.getSession(id);
      if (!info) return undefined;
      if (await wasAsked(store, keyed)) return id;
      const first = await store.read(sessionId, 0, at);
      const isNamed = title === undefined || (info.title ?? "") === title;
      if (!isNamed || !isCopy(await store.read(id), first)) throw otherRequest();
      return id;
    },
    async make() {
      if (at === 0) await store.create(id, title);
      else await session(store, sessionId).fork(at, { id, ...(title !== undefined && { title }) });
      await rememberFork(store, { sessionId, at }, id);
      if (key !== undefined) await rememberAsked(store, keyed);
      return id;
    },
  });
}

type Known = Pick<Fact, "type" | "at">;

/** Whether facts are a copy of others, which may have a rest at its end. */
function isCopy(copy: readonly Known[], facts: readonly Known[]): boolean {
  const rest = copy.slice(facts.length);
  if (rest.length > 1 || rest.some(({ type }) => type !== "waiting")) return false;
  return facts.every(({ type, at }, index) => copy[index]?.type === type && copy[index]?.at === at);
}

/** Those of a file that was read before. */
function factsIn(file: string): readonly Known[] {
  try {
    const { facts } = JSON.parse(file);
    return Array.isArray(facts) ? facts : [];
  } catch {
    return []; // no copy of anything
  }
}

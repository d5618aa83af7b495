import type { Fact } from "capstan";
import { session } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import {
  type CreationResult,
  createKeyConflictError,
  type KeyedRequest,
  matchesStoredRequest,
  runOnce,
  storeRequest,
} from "../runs/idempotency.ts";
import { createSessionId } from "../runs/start-run.ts";
import { storeFork } from "./branches.ts";
import { importSession } from "./import-session.ts";

/** The owner of a new session, and the key that its id derives from. */
export type SessionOwner = { readonly caller: Caller; readonly key: string | undefined };

/** A title, or the contents of an exported session. */
export type NewSession = { readonly title?: string | undefined; readonly file?: string | undefined };

/** Creates a session. Ids in the file are ignored: the session and its runs belong to the caller. */
export function createSession(
  deployment: Deployment,
  { caller, key }: SessionOwner,
  { title, file }: NewSession,
): Promise<CreationResult<string>> {
  const { store } = deployment;
  const id = createSessionId(caller.scope, key);
  const keyed: KeyedRequest = { sessionId: id, id: "session", request: { title, file } };
  return runOnce(deployment, {
    id,
    async find() {
      const info = await store.getSession(id);
      if (!info) return undefined;
      if (await matchesStoredRequest(store, keyed)) return id;
      const isSame =
        file === undefined
          ? info.facts === 0
          : isCopyOfFacts(await session(store, id).facts(), parseFacts(file));
      if (!isSame || (title !== undefined && (info.title ?? "") !== title)) throw createKeyConflictError();
      return id;
    },
    async create() {
      const bytes = Buffer.byteLength(file ?? "");
      await withinStorage(deployment, { caller, id, bytes }, async () => {
        if (file === undefined) return store.create(id, title);
        await importSession(deployment, caller, { id, file });
        if (title !== undefined) await store.rename(id, title);
      });
      if (key !== undefined) await storeRequest(store, keyed);
      return id;
    },
  });
}

type ForkPoint = { readonly sessionId: string; readonly at: number; readonly title?: string | undefined };

/** Creates a session from the first facts of another. */
export function forkSession(
  deployment: Deployment,
  { caller, key }: SessionOwner,
  { sessionId, at, title }: ForkPoint,
): Promise<CreationResult<string>> {
  const { store } = deployment;
  const id = createSessionId(caller.scope, key);
  const keyed: KeyedRequest = { sessionId: id, id: "session", request: { sessionId, at, title } };
  return runOnce(deployment, {
    id,
    async find() {
      const info = await store.getSession(id);
      if (!info) return undefined;
      if (await matchesStoredRequest(store, keyed)) return id;
      const first = (await session(store, sessionId).facts()).slice(0, at);
      const isNamed = title === undefined || (info.title ?? "") === title;
      if (!isNamed || !isCopyOfFacts(await session(store, id).facts(), first)) throw createKeyConflictError();
      return id;
    },
    async create() {
      await withinStorage(deployment, { caller, id }, async () => {
        if (at === 0) return store.create(id, title);
        await session(store, sessionId).fork(at, { id, ...(title !== undefined && { title }) });
      });
      await storeFork(store, { sessionId, at }, id);
      if (key !== undefined) await storeRequest(store, keyed);
      return id;
    },
  });
}

type StoredSession = { readonly caller: Caller; readonly id: string; readonly bytes?: number };

/** Creates a session if the caller's quotas have room for it. Throws `quota_exceeded`. */
async function withinStorage(
  { quotaAdmission }: Deployment,
  { caller, id, bytes = 0 }: StoredSession,
  create: () => Promise<void>,
): Promise<void> {
  const release = await quotaAdmission.admitSession(caller, { sessionId: id, bytes });
  try {
    await create();
  } finally {
    release();
  }
}

type FactSummary = Pick<Fact, "type" | "at">;

/** Whether facts are a copy of others, possibly followed by one `waiting` fact. */
function isCopyOfFacts(copy: readonly FactSummary[], facts: readonly FactSummary[]): boolean {
  const rest = copy.slice(facts.length);
  if (rest.length > 1 || rest.some(({ type }) => type !== "waiting")) return false;
  return facts.every(({ type, at }, index) => copy[index]?.type === type && copy[index]?.at === at);
}

/** Returns the facts that an import of the file keeps. */
function parseFacts(file: string): readonly FactSummary[] {
  try {
    const { facts } = JSON.parse(file);
    const isKept = ({ type }: FactSummary) => type !== "recovered" && type !== "solo_end";
    return Array.isArray(facts) ? facts.filter(isKept) : [];
  } catch {
    return []; // matches no facts
  }
}

import { AgentError, type RunInfo, type Store } from "capstan";
import { type ListedSession, sessions } from "capstan/sessions";
import type { Workspace } from "../workspace/workspace.ts";
import { loadSessionFolders } from "./session-folders.ts";

/** Returns the id that starts with the prefix, with or without `ses_`. Throws `not_found`. */
export async function findSession(store: Store, idPrefix: string): Promise<string> {
  if (await store.getSession(idPrefix)) return idPrefix;
  const ids = (await store.list()).map(({ id }) => id);
  const matches = ids.filter((id) => id.startsWith(idPrefix) || id.startsWith(`ses_${idPrefix}`));
  const [only] = matches;
  if (only !== undefined && matches.length === 1) return only;
  const advice = "Run `capstan sessions list` to list them.";
  const message =
    matches.length > 1
      ? `${matches.length} sessions start with "${idPrefix}": ${matches.slice(0, 5).join(", ")}${matches.length > 5 ? ", …" : ""}. Use a longer prefix.`
      : `Session "${idPrefix}" not found. ${advice}`;
  throw new AgentError("not_found", message);
}

/** Returns the most recent session that was started in the folder. Throws `not_found`. */
export async function findNewestSession(store: Store, folder: string): Promise<string> {
  const folders = await loadSessionFolders(store);
  const newest = (await store.list()).find(({ id }) => folders.get(id) === folder);
  if (newest) return newest.id;
  const message = `No session in ${folder} yet. Start one with \`capstan\`, or name one with --resume.`;
  throw new AgentError("not_found", message);
}

/** Returns the session's unfinished run. A run with a pending cancel is completed first and not returned. */
export async function findUnfinishedRun(
  { store, engine }: Pick<Workspace, "store" | "engine">,
  sessionId: string,
): Promise<RunInfo | undefined> {
  const unfinished = (await store.listRuns(sessionId)).findLast(({ state }) => state !== "ended");
  if (!unfinished) return undefined;
  const messages = await store.listMessages(unfinished.runId);
  if (!messages.some(({ type }) => type === "cancel")) return unfinished;
  await engine.open(unfinished.runId);
  return undefined;
}

/** Returns the session's newest run if it can be retried. Throws `not_retryable`. */
export async function findFailedRun(
  { store, engine }: Pick<Workspace, "store" | "engine">,
  sessionId: string,
): Promise<RunInfo> {
  const newest = (await store.listRuns(sessionId)).at(-1);
  if (newest && (await engine.getResult(newest.runId)).canRetry) return newest;
  const message = "Nothing to retry: the last run of this session did not fail because of its model.";
  throw new AgentError("not_retryable", message);
}

/** A listed session and the folder it was started in. */
export type SessionWithFolder = ListedSession & { readonly folder?: string };

/** Lists sessions, newest first. */
export async function listSessions(
  store: Store,
  { limit, folder }: { readonly limit: number; readonly folder?: string | undefined },
): Promise<readonly SessionWithFolder[]> {
  const folders = await loadSessionFolders(store);
  const addFolder = (session: ListedSession): SessionWithFolder => {
    const startFolder = folders.get(session.id);
    return { ...session, ...(startFolder !== undefined && { folder: startFolder }) };
  };
  if (folder === undefined) return (await sessions(store).list({ limit })).map(addFolder);
  const known = await sessions(store).list({ limit: 10_000 });
  return known
    .map(addFolder)
    .filter((session) => session.folder === folder)
    .slice(0, limit);
}

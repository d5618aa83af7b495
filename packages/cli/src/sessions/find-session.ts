import { AgentError, type RunInfo, type Store } from "capstan";
import { type ListedSession, sessions } from "capstan/sessions";
import type { Workspace } from "../workspace/workspace.ts";
import { sessionFolders } from "./session-folders.ts";

/** The id of the session whose id begins so; the `ses_` may be left out. */
export async function findSession(store: Store, beginning: string): Promise<string> {
  if (await store.getSession(beginning)) return beginning;
  const ids = (await store.list()).map(({ id }) => id);
  const found = ids.filter((id) => id.startsWith(beginning) || id.startsWith(`ses_${beginning}`));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const advice = "`capstan sessions list` shows them.";
  const message =
    found.length > 1
      ? `${found.length} sessions begin with "${beginning}": ${found.slice(0, 5).join(", ")}${found.length > 5 ? ", …" : ""}. Give more of the id.`
      : `There is no session "${beginning}". ${advice}`;
  throw new AgentError("not_found", message);
}

/** The newest that was begun in the folder. */
export async function newestSession(store: Store, folder: string): Promise<string> {
  const folders = await sessionFolders(store);
  const newest = (await store.list()).find(({ id }) => folders.get(id) === folder);
  if (newest) return newest.id;
  const message = `No session was begun in ${folder} yet: begin one with \`capstan\`, or name one with --resume.`;
  throw new AgentError("not_found", message);
}

/** The run that a session waits with: neither done nor given up. One that was told to stop is first brought to its end. */
export async function unfinishedRun(
  { store, engine }: Pick<Workspace, "store" | "engine">,
  sessionId: string,
): Promise<RunInfo | undefined> {
  const unfinished = (await store.listRuns(sessionId)).findLast(({ state }) => state !== "ended");
  if (!unfinished) return undefined;
  const told = await store.listMessages(unfinished.runId);
  if (!told.some(({ type }) => type === "cancel")) return unfinished;
  await engine.open(unfinished.runId);
  return undefined;
}

/** Those of a list, with the folders they were begun in. */
export type PlacedSession = ListedSession & { readonly folder?: string };

/** The newest sessions first. */
export async function listSessions(
  store: Store,
  { most, folder }: { readonly most: number; readonly folder?: string | undefined },
): Promise<readonly PlacedSession[]> {
  const folders = await sessionFolders(store);
  const placed = (session: ListedSession): PlacedSession => {
    const begun = folders.get(session.id);
    return { ...session, ...(begun !== undefined && { folder: begun }) };
  };
  if (folder === undefined) return (await sessions(store).list({ limit: most })).map(placed);
  const known = await sessions(store).list({ limit: 10_000 });
  return known
    .map(placed)
    .filter((session) => session.folder === folder)
    .slice(0, most);
}

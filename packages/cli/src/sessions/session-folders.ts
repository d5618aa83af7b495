// Which folder a session was begun in: a record {folder} of the kind "cli.session" for each, so that `--continue` finds
// the newest of where the user is.
import type { Store } from "capstan";

const kind = "cli.session";

/** Keeps it once; a session stays where it was begun. What cannot be kept is only not found by `--continue`. */
export async function rememberFolder(store: Store, sessionId: string, folder: string): Promise<void> {
  await store.putRecord({ kind, id: sessionId, body: { folder } }, 0).catch(() => undefined);
}

/** Forgets it, with the session. */
export async function forgetFolder(store: Store, sessionId: string): Promise<void> {
  const record = await store.getRecord(kind, sessionId);
  if (record) await store.removeRecord(kind, sessionId, record.version).catch(() => undefined);
}

/** The folder of each session that was begun here or elsewhere, by id. */
export async function loadSessionFolders(store: Store): Promise<ReadonlyMap<string, string>> {
  const records = await store.listRecords(kind);
  return new Map(records.map(({ id, body }) => [id, String((body as { folder?: unknown } | null)?.folder)]));
}

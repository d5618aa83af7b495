// The folder each session was started in: one record {folder} of kind "cli.session" per session. `--continue` uses it to
// find the most recent session of the current folder.
import type { Store } from "capstan";

const kind = "cli.session";

/** Records the folder once. Failures are ignored: they only keep `--continue` from finding the session. */
export async function rememberFolder(store: Store, sessionId: string, folder: string): Promise<void> {
  await store.putRecord({ kind, id: sessionId, body: { folder } }, 0).catch(() => undefined);
}

/** Removes the record of a deleted session. */
export async function forgetFolder(store: Store, sessionId: string): Promise<void> {
  const record = await store.getRecord(kind, sessionId);
  if (record) await store.removeRecord(kind, sessionId, record.version).catch(() => undefined);
}

/** Loads the folders of all sessions, by session id. */
export async function loadSessionFolders(store: Store): Promise<ReadonlyMap<string, string>> {
  const records = await store.listRecords(kind);
  return new Map(records.map(({ id, body }) => [id, String((body as { folder?: unknown } | null)?.folder)]));
}

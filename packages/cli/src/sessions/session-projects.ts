// Which project the runs of a session belong to: a record {folder} of the kind "cli.project" for each session, with the
// folder of the configuration that its newest run was begun with. Projects share the database of the data folder, and
// agents of the same name: a run that was put down in one must not be gone on with by the tools of another.
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { RunInfo, Store } from "capstan";
import { isRecord } from "../is-record.ts";

const kind = "cli.project";

/** The folder of the configuration; without one, where the tools for files work. */
export function projectFolder(configFile: string | undefined, cwd: string): string {
  return realpathSync(configFile === undefined ? cwd : dirname(configFile));
}

/** The same store, which keeps whose the runs are that are begun with it. */
export function withProject(store: Store, folder: string): Store {
  return {
    ...store,
    async append(facts, at) {
      // Before the run is there: one that is lost at once must not be anybody's.
      const begun = new Set(facts.flatMap((fact) => (fact.type === "run_start" ? [fact.sessionId] : [])));
      for (const sessionId of begun) await remember(store, sessionId, folder);
      return store.append(facts, at);
    },
    async remove(sessionId) {
      await store.remove(sessionId);
      await forgetProject(store, sessionId);
    },
  };
}

export type OwnOrphans = {
  readonly folder: string;
  /** Hears of runs when they are shown for the first time. */
  readonly onFound?: (runs: readonly RunInfo[]) => void;
};

/**
 * The same store, which shows as orphans only runs of this project, those of no project that is known, and those that
 * were told something through it: whoever tells a run something means it.
 */
export function withOwnOrphans(store: Store, { folder, onFound }: OwnOrphans): Store {
  const told = new Set<string>();
  const found = new Set<string>();
  return {
    ...store,
    async sendMessage(runId, message) {
      told.add(runId);
      await store.sendMessage(runId, message);
    },
    async listOrphans() {
      const own: RunInfo[] = [];
      for (const run of await store.listOrphans())
        if (told.has(run.runId) || (await isOwn(store, run, folder))) own.push(run);
      const fresh = own.filter(({ runId }) => !found.has(runId) && !told.has(runId));
      for (const { runId } of fresh) found.add(runId);
      if (fresh.length > 0) onFound?.(fresh);
      return own;
    },
  };
}

/** Forgets it, with the session. */
export async function forgetProject(store: Store, sessionId: string): Promise<void> {
  const record = await store.getRecord(kind, sessionId);
  if (record) await store.removeRecord(kind, sessionId, record.version).catch(() => undefined);
}

async function isOwn(store: Store, { sessionId }: RunInfo, folder: string): Promise<boolean> {
  const known = folderIn((await store.getRecord(kind, sessionId))?.body);
  return known === undefined || known === folder;
}

/** Of two who begin at once one wins, and only one of them gets the session. */
async function remember(store: Store, id: string, folder: string): Promise<void> {
  const known = await store.getRecord(kind, id);
  if (folderIn(known?.body) === folder) return;
  const record = { kind, id, body: { folder }, replaces: true } as const;
  await store.putRecord(record, known?.version ?? 0).catch(() => undefined);
}

const folderIn = (body: unknown): string | undefined =>
  isRecord(body) && typeof body.folder === "string" ? body.folder : undefined;

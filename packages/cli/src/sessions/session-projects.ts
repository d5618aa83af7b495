// Which project the runs of a session belong to: a record {folder} of the kind "cli.project" for each session, with the
// folder of the configuration that its newest run was begun with. Projects share the database of the data folder, and
// agents of the same name: a run that was put down in one must not be gone on with by the tools of another.
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { RunInfo, Store } from "capstan";
import { isRecord } from "../is-record.ts";

const kind = "cli.project";

/** The folder of the configuration; without one, where the tools for files work. */
export function getProjectFolder(configFile: string | undefined, cwd: string): string {
  return realpathSync(configFile === undefined ? cwd : dirname(configFile));
}

/** The same store, which keeps whose the runs are that are begun with it. */
export function withProject(store: Store, folder: string): Store {
  return {
    ...store,
    async append(facts, at) {
      // Before the run is there: one that is lost at once must not be anybody's.
      const begun = new Set(facts.flatMap((fact) => (fact.type === "run_start" ? [fact.sessionId] : [])));
      for (const sessionId of begun) await rememberProject(store, sessionId, folder);
      return store.append(facts, at);
    },
    async remove(sessionId) {
      await store.remove(sessionId);
      await forgetProject(store, sessionId);
    },
  };
}

export type OwnOrphansOptions = {
  readonly folder: string;
  /** Hears of runs when they are shown for the first time. */
  readonly onFound?: (runs: readonly RunInfo[]) => void;
};

/**
 * The same store, which shows as orphans only runs of this project, those of no project that is known, and those that
 * were told something through it: whoever tells a run something means it.
 */
export function withOwnOrphans(store: Store, { folder, onFound }: OwnOrphansOptions): Store {
  const messagedRuns = new Set<string>();
  const reportedRuns = new Set<string>();
  return {
    ...store,
    async sendMessage(runId, message) {
      messagedRuns.add(runId);
      await store.sendMessage(runId, message);
    },
    async listOrphans() {
      const ownRuns: RunInfo[] = [];
      for (const run of await store.listOrphans())
        if (messagedRuns.has(run.runId) || (await belongsToProject(store, run, folder))) ownRuns.push(run);
      const newRuns = ownRuns.filter(({ runId }) => !reportedRuns.has(runId) && !messagedRuns.has(runId));
      for (const { runId } of newRuns) reportedRuns.add(runId);
      if (newRuns.length > 0) onFound?.(newRuns);
      return ownRuns;
    },
  };
}

/** Forgets it, with the session. */
export async function forgetProject(store: Store, sessionId: string): Promise<void> {
  const record = await store.getRecord(kind, sessionId);
  if (record) await store.removeRecord(kind, sessionId, record.version).catch(() => undefined);
}

async function belongsToProject(store: Store, { sessionId }: RunInfo, folder: string): Promise<boolean> {
  const known = getFolder((await store.getRecord(kind, sessionId))?.body);
  return known === undefined || known === folder;
}

/** Of two who begin at once one wins, and only one of them gets the session. */
async function rememberProject(store: Store, id: string, folder: string): Promise<void> {
  const known = await store.getRecord(kind, id);
  if (getFolder(known?.body) === folder) return;
  const record = { kind, id, body: { folder }, replaces: true } as const;
  await store.putRecord(record, known?.version ?? 0).catch(() => undefined);
}

const getFolder = (body: unknown): string | undefined =>
  isRecord(body) && typeof body.folder === "string" ? body.folder : undefined;

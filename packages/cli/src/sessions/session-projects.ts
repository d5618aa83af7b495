// The project that owns a session's runs: one record {folder} of kind "cli.project" per session, with the config folder
// of its newest run. Projects share a database and may have agents of the same name: a run released by one project must
// not be resumed with the tools of another.
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { Json, OrphanOptions, RunInfo, Store } from "capstan";
import { isRecord } from "capstan";
import { scheduleKind } from "capstan/schedules";
import { overrideStore } from "../workspace/override-store.ts";

const kind = "cli.project";
const maxForeignRuns = 1_000;

/** Returns the folder of the config, or else the root of the file tools. */
export function getProjectFolder(configFile: string | undefined, cwd: string): string {
  return realpathSync(configFile === undefined ? cwd : dirname(configFile));
}

/** Records the project of every run and every schedule that is stored through the store. */
export function withProject(store: Store, folder: string): Store {
  return overrideStore(store, {
    async append(facts, at) {
      // Before the run is stored: a run that crashes right away must have an owner.
      const begun = new Set(facts.flatMap((fact) => (fact.type === "run_start" ? [fact.sessionId] : [])));
      for (const sessionId of begun) await rememberProject(store, sessionId, folder);
      return store.append(facts, at);
    },
    putRecord: (record, expected) => store.putRecord(withScheduleProject(record, folder), expected),
  });
}

type NewRecord = Parameters<Store["putRecord"]>[0];

/** A schedule belongs to the project that has added it. Later changes keep the field. */
function withScheduleProject(record: NewRecord, project: string): NewRecord {
  const { kind: recordKind, body } = record;
  if (recordKind !== scheduleKind || !isRecord(body) || body.project !== undefined) return record;
  return { ...record, body: { ...(body as { [key: string]: Json }), project } };
}

export type OwnOrphansOptions = {
  readonly folder: string;
  /** Called with runs that are listed for the first time. */
  readonly onFound?: (runs: readonly RunInfo[]) => void;
};

/**
 * Lists as orphans only runs of this project, runs without a known project, and runs that were sent a message through
 * this store: the sender wants them resumed. Of the schedules that are due, lists those of this project.
 */
export function withOwnOrphans(store: Store, { folder, onFound }: OwnOrphansOptions): Store {
  const messagedRuns = new Set<string>();
  const reportedRuns = new Set<string>();
  /** Left to other projects: a page must not be full of them. */
  const foreignRuns = new Set<string>();

  async function listPage(options: OrphanOptions): Promise<readonly RunInfo[]> {
    const ownRuns: RunInfo[] = [];
    const except = [...(options.except ?? []), ...foreignRuns];
    const page = await store.listOrphans({ ...options, except });
    for (const run of page) {
      if (messagedRuns.has(run.runId) || (await belongsToProject(store, run, folder))) ownRuns.push(run);
      else if (options.limit !== undefined) foreignRuns.add(run.runId);
    }
    if (foreignRuns.size > maxForeignRuns) foreignRuns.clear();
    const hasMore = ownRuns.length === 0 && page.length > 0 && page.length === options.limit;
    return hasMore ? listPage(options) : ownRuns;
  }
  return overrideStore(store, {
    async listRecords(recordKind, filter = {}) {
      const { limit, ...rest } = filter;
      if (recordKind !== scheduleKind || rest.dueUntil === undefined)
        return store.listRecords(recordKind, filter);
      const due = await store.listRecords(recordKind, rest);
      const isOwn = ({ body }: { readonly body: Json }) =>
        !isRecord(body) || body.project === undefined || body.project === folder;
      return due.filter(isOwn).slice(0, limit);
    },
    async sendMessage(runId, message) {
      messagedRuns.add(runId);
      foreignRuns.delete(runId);
      await store.sendMessage(runId, message);
    },
    async listOrphans(options = {}) {
      const ownRuns = await listPage(options);
      if (options.includeWaiting) return ownRuns; // listed, not resumed
      const newRuns = ownRuns.filter(({ runId }) => !reportedRuns.has(runId) && !messagedRuns.has(runId));
      for (const { runId } of newRuns) reportedRuns.add(runId);
      if (newRuns.length > 0) onFound?.(newRuns);
      return ownRuns;
    },
  });
}

/** Removes the record of a deleted session. */
export async function forgetProject(store: Store, sessionId: string): Promise<void> {
  const record = await store.getRecord(kind, sessionId);
  if (record) await store.removeRecord(kind, sessionId, record.version).catch(() => undefined);
}

async function belongsToProject(store: Store, { sessionId }: RunInfo, folder: string): Promise<boolean> {
  const known = getFolder((await store.getRecord(kind, sessionId))?.body);
  return known === undefined || known === folder;
}

/** Of two concurrent writers one wins, which is fine: only one of them gets the session's lease. */
async function rememberProject(store: Store, id: string, folder: string): Promise<void> {
  const known = await store.getRecord(kind, id);
  if (getFolder(known?.body) === folder) return;
  const record = { kind, id, body: { folder }, replaces: true } as const;
  await store.putRecord(record, known?.version ?? 0).catch(() => undefined);
}

const getFolder = (body: unknown): string | undefined =>
  isRecord(body) && typeof body.folder === "string" ? body.folder : undefined;

import { AgentError, type RunInfo, type Snapshot, type Store } from "capstan";
import type { World } from "./world.ts";

/** Tracks which version of the runtime stored each fact and snapshot. */
export interface VersionAudit {
  /** The store as a process of this version reads and writes it. */
  view(store: Store, version: number): Store;
  /** The newest version that stored a fact. */
  newest(): number;
}

export type VersionOptions = {
  /** Breaks the rule: processes read and write whatever the version. */
  readonly ignoresVersions?: boolean;
};

/** The memory store has no versions, so they are kept here, with the rules of the other stores. */
export function createVersionAudit(
  world: World,
  { ignoresVersions = false }: VersionOptions = {},
): VersionAudit {
  /** Versions by position, by session and by run. */
  const facts = new Map<string, number[]>();
  const runs = new Map<string, number>();
  const snapshots = new Map<string, number>();
  let newest = 0;

  return {
    newest: () => newest,
    view(store, version) {
      const assertReadable = (sessionId: string, seq: number) => {
        const found = facts.get(sessionId)?.[seq - 1] ?? 0;
        if (found <= version || ignoresVersions) return;
        world.totals.newerFacts += 1;
        throw new AgentError("newer_version", `Fact ${seq} of ${sessionId} has the version ${found}.`);
      };
      const annotate = <Info extends RunInfo>(info: Info): Info => {
        const found = runs.get(info.runId) ?? 0;
        return found > version && !ignoresVersions ? { ...info, newerVersion: found } : info;
      };
      return {
        ...store,
        async append(batch, at) {
          const { sessionId } = at.lease;
          const placed = await store.append(batch, at);
          const versions = facts.get(sessionId) ?? [];
          facts.set(sessionId, versions);
          if (versions.some((known) => known > version))
            world.reportViolation(
              "runs of a newer version are left to others",
              `${sessionId} at ${at.expected}`,
            );
          for (const { seq, runId } of placed) {
            versions[seq - 1] ??= version;
            runs.set(runId, Math.max(version, runs.get(runId) ?? 0));
          }
          newest = Math.max(newest, version);
          return placed;
        },
        async read(sessionId, after, limit) {
          const read = await store.read(sessionId, after, limit);
          for (const { seq } of read) assertReadable(sessionId, seq);
          return read;
        },
        async findRun(runId) {
          const found = await store.findRun(runId);
          return found && annotate(found);
        },
        listRuns: async (...given) => (await store.listRuns(...given)).map(annotate),
        listOrphans: async (options) => (await store.listOrphans(options)).map(annotate),
        async putSnapshot(snapshot, lease) {
          await store.putSnapshot(snapshot, lease);
          snapshots.set(nameSnapshot(lease.sessionId, snapshot), version);
        },
        async getSnapshot(sessionId) {
          const snapshot = await store.getSnapshot(sessionId);
          if (!snapshot) return undefined;
          const writer = snapshots.get(nameSnapshot(sessionId, snapshot)) ?? version;
          return { ...snapshot, version: snapshot.version + writer - version };
        },
      };
    },
  };
}

const nameSnapshot = (sessionId: string, { seq }: Snapshot): string => `${sessionId} ${seq}`;

import type { OrphanOptions, RunInfo } from "../store.ts";
import type { MemoryRun } from "./memory-catalog.ts";
import { takeTurns } from "./store-rules.ts";

type OrphanSource = {
  readonly runs: ReadonlyMap<string, MemoryRun>;
  /** Returns the milliseconds until the lease of a session expires: not positive once it has expired. */
  leaseEndsIn(sessionId: string): number | undefined;
  /** The clock of the leases. */
  now(): number;
};

/** Lists orphaned runs, and keeps the claims of those who take them over. */
export interface MemoryOrphans {
  list(options?: OrphanOptions): readonly RunInfo[];
  /** Called when a process acquires the lease of the session. */
  endClaim(sessionId: string): void;
}

export function createMemoryOrphans({ runs, leaseEndsIn, now }: OrphanSource): MemoryOrphans {
  /** When claims expire, by session, in the order in which they were made. */
  const claims = new Map<string, number>();

  const isHeld = (sessionId: string) => (leaseEndsIn(sessionId) ?? 0) > 0;
  const endClaim = (sessionId: string) => void claims.delete(sessionId);
  const isClaimed = ({ sessionId }: RunInfo) => (claims.get(sessionId) ?? 0) > now();

  function claim(infos: readonly RunInfo[], claimMs: number): readonly RunInfo[] {
    for (const { sessionId } of infos) {
      endClaim(sessionId);
      claims.set(sessionId, now() + claimMs);
    }
    return infos;
  }

  function findAll({ includeWaiting = false, runId, except = [] }: OrphanOptions): readonly RunInfo[] {
    const newest = new Map([...runs.values()].map((run) => [run.info.sessionId, run]));
    return [...newest.values()]
      .filter((run) => !isHeld(run.info.sessionId) && hasWork(run, includeWaiting))
      .filter(({ info }) => (runId === undefined || info.runId === runId) && !except.includes(info.runId))
      .map(({ info }) => ({ ...info }));
  }

  return {
    endClaim,
    list(options = {}) {
      const { limit = Number.POSITIVE_INFINITY, claimMs } = options;
      const infos = findAll(options);
      if (claimMs === undefined) return takeTurns(infos, limit);
      const places = new Map([...claims.keys()].map((sessionId, place) => [sessionId, place]));
      const getPlace = ({ sessionId }: RunInfo) => places.get(sessionId) ?? -1;
      const unclaimed = infos.filter((info) => !isClaimed(info));
      return claim(
        takeTurns(
          unclaimed.sort((left, right) => getPlace(left) - getPlace(right)),
          limit,
        ),
        claimMs,
      );
    },
  };
}

function hasWork({ info, messages }: MemoryRun, includeWaiting: boolean): boolean {
  if (info.state !== "waiting") return info.state === "active";
  if (includeWaiting) return true;
  return [...(messages?.values() ?? [])].some((message) => message !== undefined);
}

import type { RunInfo } from "capstan";
import type { StuckRun } from "capstan/engines/local";
import { getScope } from "capstan/sessions";
import type { Quotas } from "../access/quotas.ts";
import { listUsageUsers } from "../access/usage-ledger.ts";
import type { Deployment } from "../deployment.ts";
import { loadUsageView, type UsageView } from "./usage-view.ts";

/** A user as admins see one. */
export type AdminUser = UsageView & {
  readonly isAdmin: boolean;
  /** Valid keys. */
  readonly keys: number;
  /** Quotas that were stored for this user. */
  readonly ownQuotas: Quotas;
};

/** Lists everyone who has a key, quotas or usage, and the local user. */
export async function listAdminUsers(deployment: Deployment): Promise<readonly AdminUser[]> {
  const { keys: apiKeys, quotas, store } = deployment;
  const now = Date.now();
  const keys = (await apiKeys.list()).filter(
    ({ isRevoked, expiresAt }) => !isRevoked && (expiresAt === undefined || now < expiresAt),
  );
  const names = new Set([
    "",
    ...(await apiKeys.list()).map(({ user }) => user),
    ...Object.keys(quotas.configured.users ?? {}),
    ...(await quotas.stored.listUsers()),
    ...(await listUsageUsers(store)),
  ]);
  return Promise.all(
    [...names].sort().map(async (user) => {
      const own = keys.filter((key) => key.user === user);
      return {
        ...(await loadUsageView(deployment, user)),
        isAdmin: user === "" || own.some(({ isAdmin }) => isAdmin),
        keys: own.length,
        ownQuotas: await quotas.stored.get(user),
      };
    }),
  );
}

/** A session by size. Only the admin's own have a title. */
export type AdminSession = {
  readonly id: string;
  readonly user: string;
  readonly title?: string;
  readonly bytes: number;
  readonly facts: number;
  readonly updatedAt: number;
};

export async function listLargestSessions(
  { store }: Deployment,
  { scope, limit }: { readonly scope: string; readonly limit: number },
): Promise<readonly AdminSession[]> {
  return (await store.listLargest(limit)).map(({ id, title, bytes, facts, updatedAt }) => ({
    ...{ id, user: getScope(id), bytes, facts, updatedAt },
    ...(title !== undefined && getScope(id) === scope && { title }),
  }));
}

/** An unfinished run of any user. */
export type AdminRun = Pick<RunInfo, "runId" | "sessionId" | "agent" | "startedAt" | "updatedAt"> & {
  readonly user: string;
  readonly state: "stuck" | "waiting";
  /** Why a stuck run cannot continue. */
  readonly reason?: string;
};

/** Lists the runs that no process executes: waiting and stuck ones. */
export async function listIdleRuns({ store, engine }: Deployment): Promise<readonly AdminRun[]> {
  const stuck = await engine.listStuck();
  const isStuck = new Set(stuck.map(({ runId }) => runId));
  const waiting = (await store.listOrphans({ includeWaiting: true })).filter(
    ({ runId, state }) => state === "waiting" && !isStuck.has(runId),
  );
  return [
    ...stuck.map((run) => toAdminRun(run, "stuck")),
    ...waiting.map((run) => toAdminRun(run, "waiting")),
  ];
}

function toAdminRun(run: RunInfo & Partial<Pick<StuckRun, "reason">>, state: AdminRun["state"]): AdminRun {
  const { runId, sessionId, agent, startedAt, updatedAt, reason } = run;
  return {
    ...{ runId, sessionId, agent, startedAt, updatedAt, state, user: getScope(sessionId) },
    ...(reason && { reason: reason.message }),
  };
}

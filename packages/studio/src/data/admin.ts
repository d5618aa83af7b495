import { fetchDetectingSignIn } from "./sign-in.ts";

export type Windows<Value> = {
  readonly minute: Value;
  readonly hour: Value;
  readonly day: Value;
  readonly month: Value;
};
type Limit = number | "unlimited";

export type Quotas = {
  readonly runs?: Partial<Windows<number>> | "unlimited";
  readonly tokens?: Partial<Windows<number>> | "unlimited";
  readonly cost?: Partial<Windows<number>> | "unlimited";
  readonly storage?: Limit;
  readonly sessions?: Limit;
  readonly concurrentRuns?: Limit;
  readonly streams?: Limit;
};

export type AdminUser = {
  readonly user: string;
  readonly isAdmin: boolean;
  readonly keys: number;
  readonly quotas: Quotas;
  readonly ownQuotas: Quotas;
  readonly windows: Windows<{ readonly runs: number; readonly tokens: number; readonly cost: number }>;
  readonly activeRuns: number;
  readonly storage: { readonly sessions: number; readonly bytes: number };
};

export type AdminKey = {
  readonly id: string;
  readonly user: string;
  readonly isAdmin: boolean;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly isRevoked: boolean;
};

export type LargeSession = {
  readonly id: string;
  readonly user: string;
  readonly title?: string;
  readonly bytes: number;
  readonly updatedAt: number;
};

export type IdleRun = {
  readonly runId: string;
  readonly user: string;
  readonly agent: string;
  readonly state: "stuck" | "waiting";
  readonly reason?: string;
  readonly updatedAt: number;
};

export type DrainState = {
  readonly isDraining: boolean;
  readonly runs: readonly { readonly runId: string }[];
};

async function request<Value>(method: string, path: string, body?: object): Promise<Value> {
  const response = await fetchDetectingSignIn(`/api/admin/${path}`, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  const value = response.status === 204 ? undefined : await response.json();
  if (!response.ok) throw new Error(value.error.message);
  return value;
}

const encode = encodeURIComponent;

/** The server's routes for admins. */
export type Admin = {
  listUsers(): Promise<{ readonly users: readonly AdminUser[]; readonly defaultQuotas: Quotas }>;
  /** Without a user, the quotas of all users. */
  setQuotas(user: string | undefined, quotas: Quotas): Promise<void>;
  listKeys(): Promise<readonly AdminKey[]>;
  createKey(key: Pick<AdminKey, "user" | "isAdmin">): Promise<AdminKey & { readonly secret: string }>;
  revokeKey(id: string): Promise<void>;
  listSessions(): Promise<readonly LargeSession[]>;
  deleteSession(id: string): Promise<void>;
  listRuns(): Promise<readonly IdleRun[]>;
  sendToRun(id: string, type: "cancel" | "retry"): Promise<void>;
  getDrain(): Promise<DrainState>;
  setDrain(isDraining: boolean): Promise<DrainState>;
};

export const admin: Admin = {
  listUsers: () => request("GET", "users"),
  setQuotas: (user, quotas) => request("PUT", "quotas", { ...(user !== undefined && { user }), quotas }),
  listKeys: async () => (await request<{ readonly keys: readonly AdminKey[] }>("GET", "keys")).keys,
  createKey: (key) => request("POST", "keys", key),
  revokeKey: (id) => request("DELETE", `keys/${encode(id)}`),
  listSessions: async () =>
    (await request<{ readonly sessions: readonly LargeSession[] }>("GET", "sessions?limit=20")).sessions,
  deleteSession: (id) => request("DELETE", `sessions/${encode(id)}`),
  listRuns: async () => (await request<{ readonly runs: readonly IdleRun[] }>("GET", "runs")).runs,
  sendToRun: (id, type) => request("POST", `runs/${encode(id)}/${type}`),
  getDrain: () => request("GET", "drain"),
  setDrain: (isDraining) => request("PUT", "drain", { isDraining }),
};

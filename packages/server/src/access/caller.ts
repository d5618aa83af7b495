import type { Quotas } from "./quotas.ts";

/** The authenticated caller. Nothing else in a request identifies a user. */
export type Caller = {
  /** Empty for the local user. */
  readonly user: string;
  /** Prefix of the caller's session ids, see `getScope`; empty for the local user. */
  readonly scope: string;
  /** May change agents, which all users share. */
  readonly isAdmin: boolean;
  readonly quotas: Quotas;
};

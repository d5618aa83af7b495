/** The authenticated caller. Nothing else in a request identifies a user. */
export type Caller = {
  /** Empty for the local user. */
  readonly user: string;
  /** Prefix of the caller's session ids, see `getScope`; empty for the local user. */
  readonly scope: string;
  /** May change agents, which all users share. */
  readonly isAdmin: boolean;
  readonly limits: UserLimits;
};

/** Limits of one user. */
export type UserLimits = {
  /** Open event streams in this process. */
  readonly streams: number;
  /** Active runs in this process. */
  readonly runs: number;
  /** Tokens per day (UTC). */
  readonly tokensPerDay: number;
  /** US dollars per day (UTC). */
  readonly costPerDay: number;
};

export const defaultLimits: UserLimits = {
  streams: 100,
  runs: 50,
  tokensPerDay: Number.POSITIVE_INFINITY,
  costPerDay: Number.POSITIVE_INFINITY,
};

/** Who asks, as their key proves it; nothing else in a request says who somebody is. */
export type Caller = {
  /** The one local user has no name. */
  readonly user: string;
  /** What the ids of their sessions begin with, see `scopeOf`; empty for the local user. */
  readonly scope: string;
  /** May change what all users share: agents. */
  readonly isAdmin: boolean;
  readonly limits: UserLimits;
};

/** How much one user may have at a time, and spend in a day. */
export type UserLimits = {
  /** Open event streams, in this process. */
  readonly streams: number;
  /** Runs at work, in this process. */
  readonly runs: number;
  /** Tokens in one day (UTC). */
  readonly tokensPerDay: number;
  /** US dollars in one day (UTC). */
  readonly costPerDay: number;
};

export const defaultLimits: UserLimits = {
  streams: 100,
  runs: 50,
  tokensPerDay: Number.POSITIVE_INFINITY,
  costPerDay: Number.POSITIVE_INFINITY,
};

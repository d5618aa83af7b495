import type { UserLimits } from "./user-limits.ts";

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

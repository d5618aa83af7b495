import type { Clock } from "../base/clock.ts";
import type { SharedBudget } from "../features/limits/shared-budget.ts";
import type { CallHooks } from "../kernel/io.ts";
import type { SecretMask } from "../secrets/mask.ts";
import type { HeldLease } from "./lease.ts";
import type { SessionLog } from "./log.ts";
import type { OnModelCall } from "./steps.ts";
import type { Store } from "./store.ts";

/** Services shared by a run and its nested runs while they hold the session. */
export type RunServices = {
  readonly store: Store;
  readonly lease: HeldLease;
  readonly clock: Clock;
  readonly context: unknown;
  readonly hooks: CallHooks;
  /** Undefined when the run has no secrets. */
  readonly masking: SecretMask | undefined;
  /** Writes without masking. */
  readonly log: SessionLog;
  readonly shutdownSignal: AbortSignal | undefined;
  /** Whether the run may suspend until its model's provider can be called again. */
  readonly canSuspend: boolean;
  readonly onModelCall: OnModelCall | undefined;
  /** Returns the budget that the run shares with its nested runs; created with the first of them. */
  openBudget(): SharedBudget;
  /** Resolves when a message to the root run has arrived. */
  whenMessage(): Promise<void>;
};

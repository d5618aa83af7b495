import { AgentError, type Store } from "capstan";
import { type PruneOptions, prune } from "capstan/sessions";
import type { Deployment } from "../deployment.ts";
import { deleteSession } from "./remove-session.ts";

/** How long and up to which size sessions are kept. Sessions with an active or waiting run are always kept. */
export type Retention = {
  /** Removes sessions that were not used for this many days. */
  readonly olderThanDays?: number;
  /** Removes ended sessions whose facts and blobs take more bytes. */
  readonly maxBytes?: number;
};

const dayMs = 86_400_000;
const intervalMs = 3_600_000;
/** Between two removals, so that other work has precedence. */
const pauseMs = 100;

type RetentionContext = Pick<Deployment, "store" | "shutdownSignal" | "report">;

/** Removes sessions in the background: now, and every hour until the server shuts down. */
export function startRetention(
  { store, shutdownSignal, report }: RetentionContext,
  retention: Retention,
): void {
  assertPositive(retention);
  async function removeExpired(): Promise<void> {
    for (const condition of toConditions(retention))
      for await (const _ of prune(store, createPruneOptions(store, condition, shutdownSignal)))
        await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
  }
  const run = () => void removeExpired().catch(report);
  const timer = setInterval(run, intervalMs).unref();
  shutdownSignal.addEventListener("abort", () => clearInterval(timer), { once: true });
  run();
}

function toConditions({ olderThanDays, maxBytes }: Retention): Pick<PruneOptions, "before" | "largerThan">[] {
  return [
    ...(olderThanDays === undefined ? [] : [{ before: Date.now() - olderThanDays * dayMs }]),
    ...(maxBytes === undefined ? [] : [{ largerThan: maxBytes }]),
  ];
}

function createPruneOptions(
  store: Store,
  condition: Pick<PruneOptions, "before" | "largerThan">,
  signal: AbortSignal,
): PruneOptions {
  return { ...condition, signal, remove: (sessionId) => deleteSession(store, sessionId) };
}

function assertPositive(retention: Retention): void {
  for (const [name, value] of Object.entries(retention))
    if (!(value > 0)) {
      const message = `\`retention.${name}\` must be greater than 0, not ${value}.`;
      throw new AgentError("invalid_definition", message);
    }
}

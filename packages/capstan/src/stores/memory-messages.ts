import type { Store } from "../store.ts";
import type { MemoryRun, MemorySession } from "./memory-catalog.ts";
import { assertAcceptsMessages, assertCanRetry } from "./store-rules.ts";
import type { Watchers } from "./watchers.ts";

/** Removes messages that facts record. */
export function acknowledgeMessages(run: MemoryRun | undefined, keys: readonly string[]): void {
  if (!run) return;
  run.messages ??= new Map();
  for (const key of keys) run.messages.set(key, undefined);
}

/** Creates the storage for messages to runs. */
export function createMemoryMessages(
  sessions: ReadonlyMap<string, MemorySession>,
  runs: ReadonlyMap<string, MemoryRun>,
  notify: Watchers["notify"],
): Pick<Store, "sendMessage" | "listMessages"> {
  return {
    async sendMessage(runId, message) {
      const run = runs.get(runId);
      if (run?.messages?.has(message.key)) return;
      const isRetry = message.type === "retry" && run?.info.state === "ended";
      if (isRetry) assertCanRetry(runId, sessions.get(run.info.sessionId)?.facts.at(-1));
      else assertAcceptsMessages(runId, run?.info);
      if (isRetry) run.info.state = "waiting";
      if (run) run.messages = (run.messages ?? new Map()).set(message.key, message);
      notify(run?.info.sessionId ?? "", { type: "message", runId });
    },
    async listMessages(runId) {
      return [...(runs.get(runId)?.messages?.values() ?? [])].filter((message) => message !== undefined);
    },
  };
}

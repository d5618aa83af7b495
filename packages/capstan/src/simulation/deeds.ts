import type { ToolContext } from "../tool.ts";
import type { AuditedStore } from "./audited-store.ts";
import { kinds } from "./plan.ts";
import type { World } from "./world.ts";

/** One execution of a tool. */
export type Deed = {
  readonly worker: string;
  readonly token: number | undefined;
  readonly key: string;
  readonly round: number;
  /** It has been executed before. */
  readonly isRepeat: boolean;
  readonly signal: AbortSignal;
  end: "ok" | "failed" | "asked" | undefined;
};

type Doer = { readonly worker: string; readonly tool: string };

/** What was done to the world outside, which no store can take back. */
export interface Deeds {
  begin(doer: Doer, context: ToolContext): Deed;
  /** Holds what was done against what the log says of it. */
  compare(): void;
}

export function newDeeds(world: World, audited: AuditedStore): Deeds {
  const byCall = new Map<string, Deed[]>();
  return {
    begin({ worker, tool }, { runId, sessionId, callId, idempotencyKey, answers, signal }) {
      const id = `${runId}/${callId}`;
      const earlier = byCall.get(id) ?? [];
      const lease = audited.leases.holder(sessionId);
      // Nobody can keep a process from going on that does not know yet that it has lost its lease.
      const isStale = lease?.worker !== worker;
      const deed: Deed = {
        worker,
        token: isStale ? undefined : lease.token,
        key: idempotencyKey,
        round: answers.length,
        isRepeat: earlier.length > 0,
        signal,
        end: undefined,
      };
      world.note(worker, `executes ${tool} ${id}${isStale ? " without its lease" : ""}`);
      const call = audited.facts.runs.get(runId)?.calls.get(callId);
      if (!call || call.starts === 0) world.violate("a tool runs after its intent is stored", id);
      if (kinds[tool]?.needsApproval && !call?.isAllowed) world.violate("nothing runs unapproved", id);
      if (call?.result && !isStale) world.violate("a completed step is never performed again", id);
      if (earlier.some(({ key }) => key !== deed.key)) world.violate("the same idempotency key", id);
      if (!kinds[tool]?.repeatable && earlier.some(({ round }) => round === deed.round))
        world.violate("what is not repeatable is executed at most once", id);
      const isLeftOn = earlier.some(
        (one) => !one.end && !one.signal.aborted && audited.leases.wasReleased(one.token),
      );
      if (isLeftOn) world.violate("no effect is under way when its lease is given back", id);
      byCall.set(id, [...earlier, deed]);
      return deed;
    },
    compare() {
      for (const { runId, calls } of audited.facts.runs.values())
        for (const [callId, { name, result }] of calls) {
          const deeds = byCall.get(`${runId}/${callId}`) ?? [];
          const detail = `${name} ${runId}/${callId} is ${result?.status}; executions: ${deeds.length}`;
          const isBegun = deeds.length > 0;
          if (isBegun && result && (result.status === "skipped" || result.status === "denied"))
            world.violate("what was begun is never said not to have been", detail);
          if (result?.status === "ok" && !kinds[name]?.byClient && !deeds.some(({ end }) => end === "ok"))
            world.violate("nothing is said to be done that was not", detail);
          if (
            result?.status === "error" &&
            result.error?.code === "tool_failed" &&
            !isBegun &&
            name !== "missing"
          )
            world.violate("nothing is said to be done that was not", detail);
        }
    },
  };
}

import type { UnplacedFact } from "../event.ts";
import type { Store } from "../store.ts";

/** Where a process may be made to die or to stop. An intent is stored before its effect, a result is logged after it. */
export const pointNames = [
  "before_intent",
  "after_intent",
  "before_effect",
  "after_effect",
  "before_log",
  "after_log",
] as const;
export type PointName = (typeof pointNames)[number];

/** What this process does to itself when it comes to a point for the n-th time. */
export type Breakpoint = {
  readonly point: PointName;
  readonly count: number;
  readonly signal: "SIGKILL" | "SIGSTOP";
};

export type Reach = (point: PointName) => void;

/** Counts how often the point is reached. */
export function reaching(breakpoint: Breakpoint | undefined): Reach {
  let count = 0;
  return (point) => {
    if (point !== breakpoint?.point) return;
    count += 1;
    if (count === breakpoint.count) process.kill(process.pid, breakpoint.signal);
  };
}

/** A store with the points around its log. */
export function breakable(store: Store, reach: Reach): Store {
  return {
    ...store,
    async append(facts, at) {
      const isIntent = facts.some(isStart);
      const isLog = facts.some(isResult);
      if (isIntent) reach("before_intent");
      if (isLog) reach("before_log");
      const placed = await store.append(facts, at);
      if (isIntent) reach("after_intent");
      if (isLog) reach("after_log");
      return placed;
    },
  };
}

const isStart = ({ type }: UnplacedFact) => type === "tool_call_start" || type === "turn_start";
const isResult = ({ type }: UnplacedFact) => type === "tool_call_result" || type === "message";

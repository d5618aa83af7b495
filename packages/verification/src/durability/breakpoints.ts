import type { Store } from "capstan";
import type { UnplacedFact } from "capstan/internal/verification";

/** Points at which a process can be killed or stopped. An intent is stored before its effect, a result after it. */
export const pointNames = [
  "before_intent",
  "after_intent",
  "before_effect",
  "after_effect",
  "before_log",
  "after_log",
] as const;
export type PointName = (typeof pointNames)[number];

/** The signal that the process sends itself when it reaches a point for the n-th time. */
export type Breakpoint = {
  readonly point: PointName;
  readonly count: number;
  readonly signal: "SIGKILL" | "SIGSTOP";
};

export type ReachPoint = (point: PointName) => void;

/** Returns a function that counts how often the point is reached and sends the signal. */
export function createBreakpoint(breakpoint: Breakpoint | undefined): ReachPoint {
  let count = 0;
  return (point) => {
    if (point !== breakpoint?.point) return;
    count += 1;
    if (count === breakpoint.count) process.kill(process.pid, breakpoint.signal);
  };
}

/** Wraps a store with breakpoints around its appends. */
export function withBreakpoints(store: Store, reach: ReachPoint): Store {
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

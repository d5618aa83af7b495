import { expect, it } from "vitest";
import { systemClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import type { Result } from "../runtime/result.ts";
import { createRunHandle, type Run } from "../runtime/run-handle.ts";
import { createRunTracker } from "./run-tracker.ts";

function createHandle(id: string, result: Promise<Result>): Run {
  return createRunHandle({ id, send: () => undefined, async *readEvents() {}, getResult: () => result });
}

it("waits on close for all handles of a run, not only for the newest", async () => {
  const tracker = createRunTracker(systemClock, () => undefined);
  const first = Promise.withResolvers<Result>();
  tracker.track(createHandle("run", first.promise));
  const repeated = tracker.track(createHandle("run", Promise.reject(new AgentError("session_busy", "busy"))));
  await expect(repeated).rejects.toThrow("busy");
  expect(tracker.list()).toHaveLength(1);
  expect(tracker.isDue("run")).toBe(false);
  let isIdle = false;
  const idle = tracker.whenIdle().then(() => {
    isIdle = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isIdle).toBe(false);
  first.resolve({ status: "done" } as Result);
  await idle;
  expect(tracker.list()).toEqual([]);
});

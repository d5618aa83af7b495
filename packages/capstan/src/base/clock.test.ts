import { describe, expect, it, vi } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { run } from "../runtime/run.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { sleep, systemClock, toClock } from "./clock.ts";

describe("the system clock", () => {
  it("returns milliseconds since the epoch as an integer", () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(5000);
    expect(Number.isInteger(systemClock.now())).toBe(true);
  });

  it("shows the date after the machine's clock was set, and measures durations as before", () => {
    const before = systemClock.monotonic();
    const wall = vi.spyOn(Date, "now").mockReturnValue(0);
    try {
      expect(systemClock.now()).toBe(0);
      expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before);
    } finally {
      wall.mockRestore();
    }
  });

  it("fires after a delay of months, not before", () => {
    vi.useFakeTimers();
    try {
      const fire = vi.fn();
      const cancelled = vi.fn();
      const [dayMs, days] = [86_400_000, 60];
      systemClock.after(days * dayMs, fire);
      const cancel = systemClock.after(days * dayMs, cancelled);
      vi.advanceTimersByTime(days * dayMs - 1);
      expect(fire).not.toHaveBeenCalled();
      cancel();
      vi.advanceTimersByTime(1);
      expect(fire).toHaveBeenCalledOnce();
      expect(cancelled).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });

  it("fires once after the delay, unless cancelled", async () => {
    const fired: string[] = [];
    const cancel = systemClock.after(1, () => fired.push("cancelled"));
    systemClock.after(2, () => fired.push("kept"));
    cancel();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(fired).toEqual(["kept"]);
  });

  it("does not fire at once for a delay beyond the timer range", async () => {
    const fired: string[] = [];
    const cancel = systemClock.after(2 ** 40, () => fired.push("early"));
    await new Promise((resolve) => setTimeout(resolve, 5));
    cancel();
    expect(fired).toEqual([]);
  });
});

describe("sleep", () => {
  it("resolves when the time has passed, not before", async () => {
    const clock = fakeClock();
    let woke = false;
    const asleep = sleep(clock, 1000, new AbortController().signal).then(() => {
      woke = true;
    });
    await clock.advance(999);
    expect(woke).toBe(false);
    await clock.advance(1);
    await asleep;
    expect(woke).toBe(true);
  });

  it("rejects with the reason as soon as it is aborted, and clears its timer", async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const asleep = sleep(clock, 1000, controller.signal);
    controller.abort(new Error("enough"));
    await expect(asleep).rejects.toThrow("enough");
    expect(clock.pending).toBe(0);
  });

  it("does not start when the signal is already aborted", async () => {
    const clock = fakeClock();
    await expect(sleep(clock, 1000, AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
    expect(clock.pending).toBe(0);
  });
});

it("a clock without `monotonic` measures durations with `now`", async () => {
  let at = 5;
  const clock = toClock({ now: () => at, after: () => () => undefined });
  expect([clock.now(), clock.monotonic()]).toEqual([5, 5]);
  at = 7;
  expect(clock.monotonic()).toBe(7);
  const options = { clock: { now: () => 1, after: systemClock.after } };
  const agent = defineAgent({ name: "a", model: scriptedModel([{ text: "Hello." }]) });
  expect(await run(agent, "Hi.", options)).toMatchObject({ status: "done", text: "Hello." });
});

import { describe, expect, it, vi } from "vitest";
import { sleep, systemClock } from "./clock.ts";
import { fakeClock } from "./testing/fake-clock.ts";

describe("the system clock", () => {
  it("tells milliseconds since the epoch, as a whole number", () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(5000);
    expect(Number.isInteger(systemClock.now())).toBe(true);
  });

  it("is not moved by a wall clock that is set back", () => {
    const before = systemClock.now();
    const wall = vi.spyOn(Date, "now").mockReturnValue(0);
    try {
      expect(systemClock.now()).toBeGreaterThanOrEqual(before);
    } finally {
      wall.mockRestore();
    }
  });

  it("fires once after the time, unless that was taken back", async () => {
    const fired: string[] = [];
    const cancel = systemClock.after(1, () => fired.push("cancelled"));
    systemClock.after(2, () => fired.push("kept"));
    cancel();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(fired).toEqual(["kept"]);
  });

  it("does not fire at once for a wait that no timer can hold", async () => {
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

  it("rejects with the reason as soon as it is aborted, and takes its timer back", async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const asleep = sleep(clock, 1000, controller.signal);
    controller.abort(new Error("enough"));
    await expect(asleep).rejects.toThrow("enough");
    expect(clock.pending).toBe(0);
  });

  it("does not begin when the signal is already aborted", async () => {
    const clock = fakeClock();
    await expect(sleep(clock, 1000, AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
    expect(clock.pending).toBe(0);
  });
});

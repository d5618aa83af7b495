import { describe, expect, it } from "vitest";
import { fakeClock } from "./fake-clock.ts";

describe("fakeClock", () => {
  it("stands still until it is moved", async () => {
    const clock = fakeClock({ start: 1000 });
    await new Promise((resolve) => setTimeout(resolve, 3));
    expect(clock.now()).toBe(1000);
    await clock.advance(250);
    expect(clock.now()).toBe(1250);
  });

  it("begins with 2026 unless told otherwise", () => {
    expect(new Date(fakeClock().now()).toISOString()).toBe("2026-01-01T00:00:00.000Z");
  });

  it("fires only the timers that are due, in order and at their time", async () => {
    const clock = fakeClock({ start: 0 });
    const fired: [string, number][] = [];
    for (const [name, ms] of [
      ["late", 300],
      ["early", 100],
      ["never", 301],
    ] as const)
      clock.after(ms, () => fired.push([name, clock.now()]));
    expect(clock.pending).toBe(3);
    await clock.advance(300);
    expect(fired).toEqual([
      ["early", 100],
      ["late", 300],
    ]);
    expect(clock.pending).toBe(1);
  });

  it("lets each timer take effect before the next: a wait started by a wait counts", async () => {
    const clock = fakeClock({ start: 0 });
    const times: number[] = [];
    const wait = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
    const working = (async () => {
      for (let count = 0; count < 3; count++) {
        await wait(100);
        times.push(clock.now());
      }
    })();
    await clock.advance(1000);
    await working;
    expect(times).toEqual([100, 200, 300]);
    expect(clock.now()).toBe(1000);
  });

  it("a step moves the date only: no time passes, and no timer fires", async () => {
    const clock = fakeClock({ start: 1000 });
    let fired = 0;
    clock.after(10, () => fired++);
    clock.step(-500);
    expect([clock.now(), clock.monotonic(), fired]).toEqual([500, 0, 0]);
    await clock.advance(10);
    expect([clock.now(), clock.monotonic(), fired]).toEqual([510, 10, 1]);
  });

  it("a wait that is taken back does not fire", async () => {
    const clock = fakeClock();
    let fired = 0;
    const cancel = clock.after(10, () => fired++);
    cancel();
    await clock.advance(100);
    expect([fired, clock.pending]).toEqual([0, 0]);
  });

  it("skips waits up to a length by itself, and only those", async () => {
    const clock = fakeClock({ start: 0, skipUpToMs: 1000 });
    let longFired = false;
    clock.after(1001, () => {
      longFired = true;
    });
    await new Promise<void>((resolve) => clock.after(1000, resolve));
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect([clock.now(), longFired, clock.pending]).toEqual([1000, false, 1]);
  });

  it("a skipped wait that is taken back does not move the time", async () => {
    const clock = fakeClock({ start: 0, skipUpToMs: 1000 });
    clock.after(500, () => undefined)();
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(clock.now()).toBe(0);
  });
});

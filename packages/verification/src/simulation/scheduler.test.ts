import { describe, expect, it } from "vitest";
import { createRandom } from "./random.ts";
import { createScheduler } from "./scheduler.ts";

describe("the scheduler", () => {
  it("fires events in time order, and settles promises before the next event", async () => {
    const time = createScheduler(createRandom(1));
    const seen: string[] = [];
    const deep = async (depth: number): Promise<void> => {
      if (depth > 0) await deep(depth - 1);
    };
    time.after(20, () => seen.push(`second at ${time.now()}`));
    time.after(10, () => {
      seen.push(`first at ${time.now()}`);
      void deep(500).then(() => seen.push("what follows"));
      time.after(5, () => seen.push(`in between at ${time.now()}`));
    });
    time.after(15, () => seen.push("never"))();
    await time.run(() => false, 1000);
    expect(seen).toEqual(["first at 10", "what follows", "in between at 15", "second at 20"]);
    expect(time.fired).toBe(3);
  });

  it("breaks ties at random, deterministically per seed", async () => {
    const runTies = async (seed: number) => {
      const time = createScheduler(createRandom(seed));
      const order: number[] = [];
      for (let n = 0; n < 6; n++) time.after(1, () => order.push(n));
      await time.run(() => false, 1);
      return order.join("");
    };
    const orders = await Promise.all([1, 2, 3, 4, 5].map(runTies));
    expect(new Set(orders).size).toBeGreaterThan(1);
    expect(await Promise.all([1, 2, 3, 4, 5].map(runTies))).toEqual(orders);
  });

  it("stops when it is over and at its time limit", async () => {
    const time = createScheduler(createRandom(1));
    let count = 0;
    const again = () => {
      count += 1;
      time.after(1, again);
    };
    again();
    await time.run(() => count === 5, 1000);
    expect(count).toBe(5);
    await time.run(() => false, 50);
    expect(time.now()).toBe(50);
  });
});

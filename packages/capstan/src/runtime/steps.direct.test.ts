import { describe, expect, it } from "vitest";
import type { Effect } from "../kernel/effect.ts";
import { direct } from "./steps.ts";

const note = (id: string): Effect => ({ type: "note", id, facts: [] });
const { signal } = new AbortController();

describe("direct", () => {
  it("starts every effect in call order before awaiting any of them (S2-43, S4-05)", () => {
    const begun: string[] = [];
    const engine = direct((effect) => {
      begun.push(effect.id);
      return new Promise(() => undefined);
    }, signal);
    void engine.all([note("a"), note("b"), note("c")]);
    expect(begun).toEqual(["a", "b", "c"]);
  });

  it("returns only when all effects are done", async () => {
    const slow = Promise.withResolvers<readonly never[]>();
    let returned = false;
    const engine = direct(async ({ id }) => (id === "slow" ? slow.promise : []), signal);
    const all = engine.all([note("fast"), note("slow")]).then(() => {
      returned = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(returned).toBe(false);
    slow.resolve([]);
    await all;
    expect(returned).toBe(true);
  });

  it("rejects when a step rejects, but only after all others have ended", async () => {
    const order: string[] = [];
    const engine = direct(async ({ id }) => {
      if (id === "broken") throw new Error("disk full");
      await new Promise((resolve) => setTimeout(resolve, 1));
      order.push(id);
      return [];
    }, signal);
    await expect(engine.all([note("broken"), note("other")])).rejects.toThrow("disk full");
    expect(order).toEqual(["other"]);
  });

  it("passes its signal to every step", async () => {
    const seen: AbortSignal[] = [];
    const engine = direct(async (_effect, given) => {
      seen.push(given);
      return [];
    }, signal);
    await engine.all([note("a"), note("b")]);
    expect(seen).toEqual([signal, signal]);
  });

  it("does nothing for no effects", async () => {
    const engine = direct(() => Promise.reject(new Error("never")), signal);
    await expect(engine.all([])).resolves.toBeUndefined();
  });
});

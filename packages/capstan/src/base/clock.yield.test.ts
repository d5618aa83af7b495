import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Model } from "../kernel/model.ts";
import { run } from "../runtime/run.ts";
import { systemClock } from "./clock.ts";

let now = 0;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
beforeEach(async () => {
  await nextTurn(); // ends the turn of an earlier test
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

/** A piece of work that takes a millisecond. */
async function work(done: () => void): Promise<void> {
  await systemClock.yieldIfBusy?.();
  now += 1;
  done();
}

it("work that takes little time does not wait", async () => {
  expect(systemClock.yieldIfBusy?.()).toBeUndefined();
  now += 1;
  expect(systemClock.yieldIfBusy?.()).toBeUndefined();
  await nextTurn();
});

it("much work is spread over turns of the event loop, in order", async () => {
  const steps: (number | "turn")[] = [];
  const pieces = Array.from({ length: 9 }, (_, index) => work(() => steps.push(index)));
  let isOver = false;
  const countTurns = () => {
    steps.push("turn");
    if (!isOver) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  await Promise.all(pieces);
  isOver = true;
  expect(steps.filter((step) => step !== "turn")).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  const turns = steps
    .join(" ")
    .split("turn")
    .map((turn) => turn.trim().split(" ").length);
  expect(Math.max(...turns.slice(1))).toBeLessThanOrEqual(3);
});

it("models that always have text ready do not keep the event loop from others", async () => {
  let chunks = 0;
  const model: Model = {
    id: "endless",
    async *stream() {
      while (chunks++ < 5000) {
        now += 1;
        yield [{ type: "text", text: "word " }];
      }
      yield [{ type: "finish", reason: "stop" }];
    },
  };
  const runs = [1, 2].map(() => run(defineAgent({ name: "writer", model }), "Go."));
  let chunksAtTurn = 0;
  while (chunksAtTurn === 0) {
    await nextTurn();
    chunksAtTurn = chunks;
  }
  expect(chunksAtTurn).toBeLessThan(100);
  await Promise.all(runs);
});

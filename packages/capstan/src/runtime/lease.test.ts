import { expect, it } from "vitest";
import type { Clock } from "../base/clock.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { acquireLease } from "./lease.ts";

it("a process paused for longer than its lease detects that the lease was taken (F75)", async () => {
  // No timer fires while a process is paused.
  let now = 0;
  const clock: Clock = { now: () => now, monotonic: () => now, after: () => () => undefined };
  const store = memory();
  const lost: string[] = [];
  const onLost = ({ code }: { readonly code: string }) => lost.push(code);
  const held = await acquireLease({ store, sessionId: "s", owner: "ann", leaseMs: 1000, clock, onLost });
  now = 999;
  expect(held.isCurrent()).toBe(true);
  now = 1000;
  expect(held.isCurrent()).toBe(false);
  await held.renew();
  expect(held.isCurrent()).toBe(true);
  await store.release(held.lease);
  await store.lease("s", "bob", 1000);
  await expect(held.renew()).rejects.toMatchObject({ code: "lease_lost" });
  expect(lost).toEqual(["lease_lost"]);
});

it.each([
  ["the machine has slept", 1000, 0],
  ["the wall clock was set back meanwhile", -86_400_000, 1000],
])("may have expired when %s", async (_, stepMs, passedMs) => {
  const clock = fakeClock();
  const options = { store: memory(), sessionId: "s", owner: "ann", leaseMs: 1000, onLost: () => undefined };
  const held = await acquireLease({ ...options, clock: { ...clock, after: () => () => undefined } });
  clock.step(stepMs);
  await clock.advance(passedMs);
  expect(held.isCurrent()).toBe(false);
});

it("is not lost when it is released during a renewal", async () => {
  const clock: Clock = { now: () => 0, monotonic: () => 0, after: () => () => undefined };
  const store = memory();
  const answer = Promise.withResolvers<boolean>();
  const lost: string[] = [];
  const onLost = ({ code }: { readonly code: string }) => lost.push(code);
  const slow = { ...store, renew: () => answer.promise };
  const held = await acquireLease({
    store: slow,
    sessionId: "s",
    owner: "ann",
    leaseMs: 1000,
    clock,
    onLost,
  });
  const renewal = held.renew();
  await held.release();
  answer.resolve(false);
  await expect(renewal).rejects.toMatchObject({ code: "lease_lost" });
  expect(lost).toEqual([]);
});

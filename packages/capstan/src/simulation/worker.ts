import type { Clock } from "../clock.ts";
import type { World } from "./world.ts";

/** A process of the world: it can stop for ever, or for a while, between any two things that happen to it. */
export interface Worker {
  readonly name: string;
  /** Its own idea of the time, which others do not share. */
  readonly clock: Clock;
  /** Happens in this process, or never if it is dead by then, or when it wakes up again. */
  later(ms: number, fire: () => void): () => void;
  sleep(ms: number): Promise<void>;
  isAlive(): boolean;
  isAwake(): boolean;
  kill(): void;
  pause(ms: number): void;
  wake(): void;
}

/** What may befall a process at any of its moments. */
export type Fate = (worker: Worker) => void;

const epoch = Date.UTC(2026, 0, 1);

export function newWorker(world: World, name: string, fate: Fate): Worker {
  const { scheduler, chance } = world;
  let state: "awake" | "paused" | "dead" = "awake";
  let held: (() => void)[] = [];
  // Clocks of different machines differ; order must never come from them.
  let skewMs = chance.is(0.3) ? chance.between(-3_600_000, 3_600_000) : 0;

  function happen(fire: () => void): void {
    if (state === "awake") fate(worker);
    if (state === "awake") fire();
    else if (state === "paused") held.push(fire);
  }

  const worker: Worker = {
    name,
    clock: {
      now: () => {
        if (!world.isCalm && chance.is(0.0005)) skewMs += chance.pick([1000, 3_600_000, 315_360_000_000]);
        return epoch + scheduler.now() + skewMs;
      },
      after: (ms, fire) => worker.later(ms, fire),
    },
    later(ms, fire) {
      let isOff = false;
      const cancel = scheduler.after(ms, () =>
        happen(() => {
          if (!isOff) fire();
        }),
      );
      return () => {
        isOff = true;
        cancel();
      };
    },
    sleep: (ms) =>
      new Promise((resolve) => {
        worker.later(ms, resolve);
      }),
    isAlive: () => state !== "dead",
    isAwake: () => state === "awake",
    kill() {
      if (state === "dead") return;
      state = "dead";
      held = [];
      world.note(name, "is killed");
    },
    pause(ms) {
      if (state !== "awake") return;
      state = "paused";
      world.note(name, `stands still for ${ms} ms`);
      scheduler.after(ms, worker.wake);
    },
    wake() {
      if (state !== "paused") return;
      state = "awake";
      world.note(name, "wakes up");
      const waiting = held;
      held = [];
      for (const fire of waiting) scheduler.after(0, () => happen(fire));
    },
  };
  return worker;
}

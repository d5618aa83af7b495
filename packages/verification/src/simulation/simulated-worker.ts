import type { Clock } from "capstan";
import type { World } from "./world.ts";

/** A simulated process, which can be killed or paused between any two steps. */
export interface SimulatedWorker {
  readonly name: string;
  /** The worker's own clock, which differs from the others. */
  readonly clock: Clock;
  /** Runs a step in this worker: never if it is dead by then, and after it wakes up if it is paused. */
  schedule(ms: number, fire: () => void): () => void;
  sleep(ms: number): Promise<void>;
  isAlive(): boolean;
  isAwake(): boolean;
  kill(): void;
  /** Ends the process in order. */
  exit(): void;
  pause(ms: number): void;
  wake(): void;
}

/** Called before each step; may kill or pause the worker. */
export type StepHandler = (worker: SimulatedWorker) => void;

const epoch = Date.UTC(2026, 0, 1);

export function createWorker(world: World, name: string, onStep: StepHandler): SimulatedWorker {
  const { scheduler, random } = world;
  let state: "awake" | "paused" | "dead" = "awake";
  let suspendedSteps: (() => void)[] = [];
  // Clocks of different machines differ; ordering must not depend on them.
  let skewMs = random.chance(0.3) ? random.between(-3_600_000, 3_600_000) : 0;
  if (world.hasExactClocks) skewMs = 0;
  world.addClockSkew(skewMs);

  function runStep(fire: () => void): void {
    if (state === "awake") onStep(worker);
    if (state === "awake") fire();
    else if (state === "paused") suspendedSteps.push(fire);
  }

  function end(how: string): void {
    if (state === "dead") return;
    state = "dead";
    suspendedSteps = [];
    world.log(name, how);
  }

  const worker: SimulatedWorker = {
    name,
    clock: {
      now: () => {
        if (!world.isCalm && !world.hasExactClocks && random.chance(0.0005)) {
          skewMs += random.pick([1000, 3_600_000, 315_360_000_000]);
          world.addClockSkew(skewMs);
        }
        return epoch + scheduler.now() + skewMs;
      },
      monotonic: () => scheduler.now(),
      after: (ms, fire) => worker.schedule(ms, fire),
    },
    schedule(ms, fire) {
      let isCancelled = false;
      const cancel = scheduler.after(ms, () =>
        runStep(() => {
          if (!isCancelled) fire();
        }),
      );
      return () => {
        isCancelled = true;
        cancel();
      };
    },
    sleep: (ms) =>
      new Promise((resolve) => {
        worker.schedule(ms, resolve);
      }),
    isAlive: () => state !== "dead",
    isAwake: () => state === "awake",
    kill: () => end("is killed"),
    exit: () => end("exits"),
    pause(ms) {
      if (state !== "awake") return;
      state = "paused";
      world.log(name, `is paused for ${ms} ms`);
      scheduler.after(ms, worker.wake);
    },
    wake() {
      if (state !== "paused") return;
      state = "awake";
      world.log(name, "wakes up");
      const steps = suspendedSteps;
      suspendedSteps = [];
      for (const fire of steps) scheduler.after(0, () => runStep(fire));
    },
  };
  return worker;
}

// A discrete-event simulation of workers that share a Postgres server and an engine, from the measured costs.
import type { EngineCosts } from "./engine-report.ts";
import type { Cluster } from "./scale-model.ts";

export type SimulationOptions = {
  readonly cluster: Cluster;
  /** Runs in flight per worker. */
  readonly runsPerWorker: number;
  readonly stepsPerRun: number;
  /** Steps to simulate, after the warm-up. */
  readonly steps: number;
  readonly seed: number;
};

/** Simulates runs that follow one another, and returns the steps per second. */
export function simulateThroughput(costs: EngineCosts, options: SimulationOptions): number {
  const { cluster, steps } = options;
  const events = createEventQueue();
  // Until queues have their usual length.
  const warmUpSteps = Math.ceil(steps / 5) + 3 * cluster.workers * options.runsPerWorker;
  let done = 0;
  let startedAt = 0;
  const addRun = createRuns(costs, {
    ...{ options, events },
    onStep() {
      done += 1;
      if (done === warmUpSteps) startedAt = events.now();
    },
  });
  for (let index = 0; index < cluster.workers; index++) {
    const worker = createResource(1);
    for (let count = 0; count < options.runsPerWorker; count++) addRun(worker);
  }
  while (done < warmUpSteps + steps) events.advance();
  return (1_000 * steps) / (events.now() - startedAt);
}

type RunsContext = {
  readonly options: SimulationOptions;
  readonly events: EventQueue;
  onStep(): void;
};

/** Returns a function that adds a run to a worker. When it ends, the next one starts. */
function createRuns(
  { perRun, perStep, stepMs }: EngineCosts,
  { options, events, onStep }: RunsContext,
): (worker: Resource) => void {
  const { cluster, stepsPerRun } = options;
  const random = createRandom(options.seed);
  const machine = cluster.sharedCores === undefined ? [] : [createResource(cluster.sharedCores)];
  const postgres = createResource(cluster.postgresCores);
  const engine = createResource(cluster.engineCores);
  const client = createResource(1);

  /** Service times vary as those of a random process do: the deviation is as large as the mean. */
  function use(resource: Resource, meanMs: number, next: () => void): void {
    const resources = [resource, ...machine];
    const serve = () =>
      events.add(-meanMs * Math.log(1 - random()), () => {
        for (const used of resources) used.release();
        next();
      });
    if (meanMs === 0) next();
    else acquireAll(resources, serve);
  }

  // On one machine, the process that stores the starts takes its share too.
  const clientCpuMs = machine.length > 0 ? perRun.clientCpuMs + stepsPerRun * perStep.clientCpuMs : 0;
  const engineCpuMs = perRun.engineCpuMs + stepsPerRun * perStep.engineCpuMs;
  // What a step takes besides CPU time: the network, and the sync of the disk, which commits share.
  const waitMs = Math.max(0, stepMs - perStep.workerCpuMs - perStep.postgresCpuMs);

  return function addRun(worker) {
    const start = () => use(client, clientCpuMs, () => use(engine, engineCpuMs, execute));
    const execute = () =>
      use(worker, perRun.workerCpuMs, () => use(postgres, perRun.postgresCpuMs, () => step(0)));
    const step = (index: number) => {
      const end = () => {
        onStep();
        if (index + 1 === stepsPerRun) start();
        else step(index + 1);
      };
      use(worker, perStep.workerCpuMs, () =>
        use(postgres, perStep.postgresCpuMs, () => events.add(waitMs, end)),
      );
    };
    step(Math.floor(random() * stepsPerRun)); // as if the runs had started one after the other
  };
}

type Resource = { acquire(use: () => void): void; release(): void };

/** A number of equal servers with one queue. */
function createResource(servers: number): Resource {
  const queue: (() => void)[] = [];
  let free = servers;
  let first = 0;
  return {
    acquire(use) {
      if (free === 0) return void queue.push(use);
      free -= 1;
      use();
    },
    release() {
      const next = queue[first];
      if (!next) {
        free += 1;
        return;
      }
      first += 1;
      if (first === 1_000) {
        queue.splice(0, first);
        first = 0;
      }
      next();
    },
  };
}

function acquireAll([resource, ...others]: readonly Resource[], use: () => void): void {
  if (resource) resource.acquire(() => acquireAll(others, use));
  else use();
}

type EventQueue = { add(delayMs: number, action: () => void): void; advance(): void; now(): number };

/** A binary heap of actions by time. */
function createEventQueue(): EventQueue {
  const heap: { readonly at: number; readonly action: () => void }[] = [];
  let time = 0;
  const getTime = (index: number) => heap[index]?.at ?? Number.POSITIVE_INFINITY;
  const swap = (left: number, right: number) => {
    const [first, second] = [heap[left], heap[right]];
    if (first && second) [heap[left], heap[right]] = [second, first];
  };
  return {
    now: () => time,
    add(delayMs, action) {
      let index = heap.push({ at: time + delayMs, action }) - 1;
      while (index > 0) {
        const parent = (index - 1) >> 1;
        if (getTime(parent) <= getTime(index)) return;
        swap(parent, index);
        index = parent;
      }
    },
    advance() {
      const [next] = heap;
      const last = heap.pop();
      if (!next || !last) throw new Error("Nothing is left to simulate.");
      if (heap.length > 0) heap[0] = last;
      for (let index = 0; ; ) {
        const left = 2 * index + 1;
        const child = getTime(left + 1) < getTime(left) ? left + 1 : left;
        if (getTime(child) >= getTime(index)) break;
        swap(child, index);
        index = child;
      }
      time = next.at;
      next.action();
    },
  };
}

/** Mulberry32: the same numbers for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

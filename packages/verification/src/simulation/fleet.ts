import { type Agent, type Event, type Hooks, isFact, type Store } from "capstan";
import { type LocalEngine, local } from "capstan/engines/local";
import type { AuditedStore } from "./audited-store.ts";
import { createFaultyStore, type StoreFaults } from "./faulty-store.ts";
import { type AgentContext, createPlannedAgent } from "./planned-agent.ts";
import { createWorker, type SimulatedWorker } from "./simulated-worker.ts";
import type { World } from "./world.ts";

export const leaseMs = 1000;

/** A worker with its engine. */
export type FleetMember = {
  readonly worker: SimulatedWorker;
  readonly store: Store;
  readonly agent: Agent;
  readonly engine: LocalEngine;
  readonly hooks: Hooks;
  /** Version of the facts that the worker stores. */
  readonly version: number;
  isClosing: boolean;
};

/** All workers of a world and their faults. */
export interface Fleet {
  /** A random worker that is awake, if any. */
  pickAwake(): FleetMember | undefined;
  start(): void;
  /** Stops all faults: kills all workers but one and wakes that one. */
  stopFaults(): void;
  listAlive(): readonly FleetMember[];
}

export type FaultRates = {
  readonly storeFaults: StoreFaults;
  /** Probability per step of a worker. */
  readonly kills: number;
  readonly pauses: number;
  readonly closes: number;
  readonly maxPauseMs: number;
  /** Versions of the runtime that workers run. */
  readonly versions: readonly number[];
};

const maxProcesses = 9;

export function createFleet(
  { world, audited, ...rest }: Omit<AgentContext, "worker">,
  { storeFaults, kills, pauses, closes, maxPauseMs, versions }: FaultRates,
  mutate: (store: Store) => Store = (store) => store,
): Fleet {
  const { random, scheduler, totals } = world;
  let members: FleetMember[] = [];
  let started = 0;

  function applyFault(worker: SimulatedWorker): void {
    if (world.isCalm) return;
    const draw = random.next();
    if (draw < kills && started < maxProcesses) {
      totals.kills += 1;
      worker.kill();
      scheduler.after(random.below(2500), () => start());
    } else if (draw >= kills && draw < kills + pauses) {
      totals.pauses += 1;
      worker.pause(random.below(maxPauseMs));
    } else if (draw > 1 - closes && started < maxProcesses) {
      const member = members.find((each) => each.worker === worker);
      if (member && !member.isClosing) void closeMember(member);
    }
  }

  /** Closes the engine, ends the process, and starts another one, as a deployment does. */
  async function closeMember(member: FleetMember): Promise<void> {
    totals.closes += 1;
    await closeEngine(world, audited, { member, isExact: storeFaults.failureRate === 0 });
    scheduler.after(random.below(500), () => start());
  }

  function start(version = random.pick(versions)): void {
    started += 1;
    totals.processes += 1;
    const worker = createWorker(world, `worker_${started}`, applyFault);
    const store = mutate(createFaultyStore(world, { audited, worker, version, storeFaults }));
    const agent = createPlannedAgent({ world, audited, ...rest, worker });
    const hooks = createEventCheck(world, audited);
    const { clock } = worker;
    const engine = local({
      store,
      agents: agent,
      owner: worker.name,
      leaseMs,
      clock,
      startSchedules: world.hasExactClocks,
      snapshotEvery: random.pick([1, 5, 20, 300]),
      getResumeOptions: () => ({ clock, hooks }),
    });
    members = [
      ...members.filter((member) => member.worker.isAlive()),
      { worker, store, agent, engine, hooks, version, isClosing: false },
    ];
    world.log(worker.name, versions.length > 1 ? `starts with version ${version}` : "starts");
  }

  return {
    start: () => start(),
    pickAwake() {
      const awake = members.filter((member) => member.worker.isAwake() && !member.isClosing);
      return awake.length > 0 ? random.pick(awake) : undefined;
    },
    listAlive: () => members.filter((member) => member.worker.isAlive()),
    stopFaults() {
      world.isCalm = true;
      world.log("world", "stops its faults");
      const alive = members.filter((member) => member.worker.isAlive());
      // Only the newest version can end all runs.
      const newest = Math.max(...versions);
      const capable = alive.filter(({ version, isClosing }) => version === newest && !isClosing);
      const [chosen] = capable.length > 0 ? [random.pick(capable)] : [];
      for (const member of alive) if (member !== chosen) member.worker.kill();
      if (chosen) chosen.worker.wake();
      else start(newest);
    },
  };
}

/** Closes the engine of a worker, and ends it. `isExact`: the store has no faults, so that a release cannot fail. */
async function closeEngine(
  world: World,
  { leases }: AuditedStore,
  { member, isExact }: { readonly member: FleetMember; readonly isExact: boolean },
): Promise<void> {
  const { worker, engine } = member;
  member.isClosing = true;
  world.log(worker.name, "closes");
  await engine.close();
  const held = leases.findHeldBy(worker.name);
  if (held !== undefined && isExact)
    world.reportViolation("a closed engine holds no lease", `${worker.name} holds ${held}`);
  worker.exit();
}

/** Checks that events are emitted only for stored facts. */
function createEventCheck(world: World, audited: AuditedStore): Hooks {
  return {
    onEvent(event: Event) {
      if (!isFact(event)) return;
      const stored = audited.facts.getSession(event.sessionId).facts[event.seq - 1];
      if (stored?.id !== event.id)
        world.reportViolation(
          "no event is emitted before its fact is stored",
          `${event.type} of ${event.runId} at ${event.seq}`,
        );
    },
  };
}

import type { Agent } from "../agent.ts";
import { type LocalEngine, local } from "../engines/local.ts";
import { type Event, isFact } from "../event.ts";
import type { Hooks } from "../run/open-run.ts";
import type { Store } from "../store.ts";
import type { AuditedStore } from "./audited-store.ts";
import { faultyStore, type Weather } from "./faulty-store.ts";
import { plannedAgent, type Surroundings } from "./planned-agent.ts";
import { newWorker, type Worker } from "./worker.ts";
import type { World } from "./world.ts";

export const leaseMs = 1000;

/** A process with its engine. */
export type Member = {
  readonly worker: Worker;
  readonly store: Store;
  readonly agent: Agent;
  readonly engine: LocalEngine;
  readonly hooks: Hooks;
};

/** All processes of a world, and what befalls them. */
export interface Fleet {
  /** One that is awake, by chance; undefined when there is none. */
  any(): Member | undefined;
  start(): void;
  /** Ends the troubles: all but one process are killed, and that one is well. */
  calm(): void;
  alive(): readonly Member[];
}

export type Dangers = {
  readonly weather: Weather;
  /** Per moment of a process. */
  readonly kills: number;
  readonly pauses: number;
  readonly longestPauseMs: number;
};

const mostProcesses = 9;

export function newFleet(
  { world, audited, ...rest }: Omit<Surroundings, "worker">,
  { weather, kills, pauses, longestPauseMs }: Dangers,
  broken: (store: Store) => Store = (store) => store,
): Fleet {
  const { chance, scheduler, totals } = world;
  let members: Member[] = [];
  let started = 0;

  function fate(worker: Worker): void {
    if (world.isCalm) return;
    const drawn = chance.next();
    if (drawn < kills && started < mostProcesses) {
      totals.kills += 1;
      worker.kill();
      scheduler.after(chance.below(2500), start);
    } else if (drawn >= kills && drawn < kills + pauses) {
      totals.pauses += 1;
      worker.pause(chance.below(longestPauseMs));
    }
  }

  function start(): void {
    started += 1;
    const worker = newWorker(world, `worker_${started}`, fate);
    const store = broken(faultyStore(world, { audited, worker, weather }));
    const agent = plannedAgent({ world, audited, ...rest, worker });
    const hooks = listening(world, audited);
    const { clock } = worker;
    const engine = local({
      store,
      agents: agent,
      owner: worker.name,
      leaseMs,
      clock,
      getResumeOptions: () => ({ clock, hooks }),
    });
    members = [
      ...members.filter((member) => member.worker.isAlive()),
      { worker, store, agent, engine, hooks },
    ];
    world.note(worker.name, "starts");
  }

  return {
    start,
    any() {
      const awake = members.filter((member) => member.worker.isAwake());
      return awake.length > 0 ? chance.pick(awake) : undefined;
    },
    alive: () => members.filter((member) => member.worker.isAlive()),
    calm() {
      world.isCalm = true;
      world.note("world", "becomes calm");
      const alive = members.filter((member) => member.worker.isAlive());
      const [chosen] = alive.length > 0 ? [chance.pick(alive)] : [];
      for (const member of alive) if (member !== chosen) member.worker.kill();
      if (chosen) chosen.worker.wake();
      else start();
    },
  };
}

/** Nothing is told that is not stored. */
function listening(world: World, audited: AuditedStore): Hooks {
  return {
    onEvent(event: Event) {
      if (!isFact(event)) return;
      const stored = audited.facts.sessionOf(event.sessionId).facts[event.seq - 1];
      if (stored?.id !== event.id)
        world.violate(
          "nothing is told that is not stored",
          `${event.type} of ${event.runId} at ${event.seq}`,
        );
    },
  };
}

import type { Clock } from "../../base/clock.ts";
import type { Entry } from "../../kernel/history.ts";
import type { State } from "../../kernel/state.ts";
import { fold } from "../../runtime/facts.ts";
import { run } from "../../runtime/run.ts";
import type { Run } from "../../runtime/run-handle.ts";
import type { Store } from "../../runtime/store.ts";
import { session as openStoredSession } from "../../sessions/session.ts";
import { sessions } from "../../sessions/sessions.ts";
import { memory } from "../../stores/memory.ts";
import { fakeClock } from "../fake-clock.ts";
import type { ConversationPlan, PlannedRun } from "./conversation-plan.ts";
import {
  addInput,
  type Caller,
  type Conversation,
  createTracker,
  fetchText,
  importTexts,
  openConversation,
  receiveEntry,
  storeText,
  type Tracker,
} from "./source-tracker.ts";
import { createCast, takeCaller } from "./tracked-agents.ts";

/** The tracked memory of a session, after one of its runs. */
type TrackedMemory = {
  readonly session: Conversation;
  /** The conversation of a run that did not use the session's memory; it joins the session when the next run starts. */
  readonly aside: Conversation | undefined;
  /** The result that the session can reuse. */
  readonly cached: string | undefined;
  readonly stored: Tracker["stored"];
  readonly runs: number;
  /** The last position of the run in the log. */
  readonly seq: number;
};

/** A conversation that the runtime executes while the tracker watches. */
export type World = {
  readonly tracker: Tracker;
  readonly store: Store;
  readonly clock: Clock;
  /** Calls that wait for execution, by the name of the tool. */
  readonly calls: Map<string, Caller[]>;
  sessionId: string;
  memory: TrackedMemory;
  /** The memory after each run. */
  memories: TrackedMemory[];
  copies: number;
  /** The history that a client has got. */
  lastHistory: readonly Entry[];
};

/** Executes a plan. Calls `check` after every run, fork and import. */
export async function runConversation(
  plan: ConversationPlan,
  check: (world: World) => Promise<void>,
): Promise<void> {
  const world = createWorld();
  for (const step of plan) {
    if (step.type === "run") await beginRun(world, step);
    else if (step.type === "fork") await copyByFork(world, step.run);
    else await copyByImport(world);
    await check(world);
  }
}

function createWorld(): World {
  const session = openConversation();
  return {
    ...{
      tracker: createTracker(),
      store: memory(),
      clock: fakeClock({ skipUpToMs: 60_000 }),
      calls: new Map(),
    },
    ...{ sessionId: "s", copies: 0, memories: [], lastHistory: [] },
    memory: { session, aside: undefined, cached: undefined, stored: new Map(), runs: 0, seq: 0 },
  };
}

async function foldSession({ store, sessionId }: World): Promise<State> {
  return fold(sessionId, await store.read(sessionId));
}

async function beginRun(world: World, plan: PlannedRun): Promise<void> {
  const { tracker, clock, calls, sessionId } = world;
  const { session, aside, cached, runs } = world.memory;
  calls.clear();
  for (const source of aside?.read ?? []) session.read.add(source);
  const active = plan.memory === "session" ? session : openConversation();
  const cancel = () => void handle.cancel();
  const cast = createCast({ plan, tracker, active, calls, cached, cancel });
  const input = createInput(world, plan, active);
  const handle: Run = run(cast.agent, input, { store: watchBlobs(world), session: sessionId, clock });
  if (plan.isSteered) handle.steer(addInput(tracker, active, "user"));
  let result = await handle;
  if (result.status === "failed") result = await handle.retry();
  if (result.status === "waiting") result = await handle.cancel();
  if (result.status !== "done" && result.status !== "cancelled")
    throw new Error(`The run ended: ${result.status} ${result.error?.message}`);
  world.lastHistory = result.history;
  const { seq } = await foldSession(world);
  const newAside = active === session ? undefined : active;
  const { stored } = tracker;
  world.memory = { session, aside: newAside, cached: cast.getCached(), stored, runs: runs + 1, seq };
  world.memories.push(copyMemory(world.memory));
}

function createInput({ tracker, lastHistory }: World, plan: PlannedRun, active: Conversation): Entry[] {
  const input: Entry[] = [];
  if (plan.memory === "client" && plan.resends)
    for (const entry of lastHistory) {
      receiveEntry(tracker, active, entry);
      input.push(entry);
    }
  const provenance = "application";
  if (plan.hasContext)
    input.push({ type: "user", content: addInput(tracker, active, provenance), provenance });
  input.push({ type: "user", content: addInput(tracker, active, "user") });
  return input;
}

async function copyByFork(world: World, run: number): Promise<void> {
  const { store, sessionId, memories } = world;
  const chosen = memories[run % memories.length];
  if (!chosen) return;
  const id = createCopyId(world);
  await openStoredSession(store, sessionId).fork(chosen.seq, { id });
  world.sessionId = id;
  world.memories = memories.slice(0, memories.indexOf(chosen) + 1);
  // A copy has the same handles, because it stores the results in the same order.
  world.memory = copyMemory(chosen);
  world.tracker.stored = world.memory.stored;
}

async function copyByImport(world: World): Promise<void> {
  const { store, sessionId, tracker } = world;
  const { runs, aside } = world.memory;
  if (runs === 0) return;
  const { history, sessionMemory } = await foldSession(world);
  const id = createCopyId(world);
  await sessions(store).import(await openStoredSession(store, sessionId).export("json"), { id });
  world.sessionId = id;
  const imported = importTexts(tracker, [...history, ...(sessionMemory?.history ?? [])]);
  // The memory of the session is empty if its only run did not use it.
  const session = runs === 1 && aside ? openConversation() : imported;
  const newState = await foldSession(world);
  world.lastHistory = newState.history;
  world.memory = {
    ...{ session, aside: aside && copyConversation(imported), cached: undefined },
    ...{ stored: tracker.stored, runs, seq: newState.seq },
  };
  world.memories = [copyMemory(world.memory)];
}

function createCopyId(world: World): string {
  world.copies += 1;
  return `s${world.copies}`;
}

function copyConversation({ read, parent, received }: Conversation): Conversation {
  return { read: new Set(read), parent, received: new Set(received) };
}

function copyMemory({ session, aside, stored, ...rest }: TrackedMemory): TrackedMemory {
  const copiedAside = aside && copyConversation(aside);
  return { ...rest, session: copyConversation(session), aside: copiedAside, stored: new Map(stored) };
}

/** Tells the tracker about every result that is stored or read. */
function watchBlobs(world: World): Store {
  const { store, tracker } = world;
  return {
    ...store,
    async putBlob(sessionId, blob) {
      const handle = await store.putBlob(sessionId, blob);
      storeText(tracker, handle);
      return handle;
    },
    getBlob(sessionId, handle) {
      fetchText(tracker, takeCaller(world, "read_result"), handle);
      return store.getBlob(sessionId, handle);
    },
  };
}

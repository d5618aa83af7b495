import { beforeEach, describe, expect, it } from "vitest";
import type { ProcessGate } from "../features/recovery/process-gate.ts";
import type { Fact, FactBody } from "../kernel/event.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import { createState, type State } from "../kernel/state.ts";
import { memory } from "../stores/memory.ts";
import { enterProcess, type ProcessEntry } from "./enter-process.ts";
import { apply } from "./facts.ts";
import type { Log } from "./log.ts";

let state: State;
let facts: string[];
let log: Log;
let shutdown: AbortController;
let hasLeft: boolean;

/** Admits every suspect alone. */
const gate: ProcessGate = {
  enter: async () => () => undefined,
  async enterAlone() {
    return {
      isAlone: true,
      leave() {
        hasLeft = true;
      },
    };
  },
  share: () => undefined,
};

function store(body: FactBody): void {
  facts.push(body.type);
  const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1, at: 0, id: body.type };
  apply(state, { ...body, ...origin, seq: state.seq + 1 } as Fact);
}

beforeEach(() => {
  state = createState("s");
  facts = [];
  hasLeft = false;
  shutdown = new AbortController();
  const append: Log["append"] = async (bodies) => bodies.forEach(store);
  log = {
    append,
    appendResult: append,
    emit: () => undefined,
  };
  store({ type: "run_start", input: [], policy: defaultPolicy, timeZone: "UTC" });
  store({ type: "recovered", owner: "first" });
  store({ type: "recovered", owner: "second", alone: true });
  facts = [];
});

function enter(): Promise<ProcessEntry> {
  const shared = { owner: "third", leaseMs: 1, gate, isTakeover: true, shutdownSignal: shutdown.signal };
  const options = { agents: new Map(), runId: "r", store: memory(), shared };
  const findSession = async () => ({ id: "s" });
  return enterProcess(
    { ...options, findSession, start: async () => undefined },
    { state, log, lease: { wasHeld: true }, signal: new AbortController().signal },
  );
}

describe("a suspect that enters a process alone", () => {
  it("is recorded, and its end without a crash too, so that no crash is counted", async () => {
    const entry = await enter();
    expect(facts).toEqual(["warning", "recovered"]);
    expect(state.run).toMatchObject({ isAlone: true, soloCrashes: 1 });
    await entry.stop();
    expect(facts.at(-1)).toBe("solo_end");
    expect(hasLeft).toBe(false);
    entry.leave();
    expect(hasLeft).toBe(true);
    store({ type: "recovered", owner: "fourth" });
    expect(state.run).toMatchObject({ isAlone: false, soloCrashes: 1 });
  });

  it("keeps the crash before it when the process shuts down first", async () => {
    shutdown.abort();
    const entry = await enter();
    await entry.stop();
    entry.leave();
    expect(facts).toEqual([]);
    expect(hasLeft).toBe(true);
    store({ type: "recovered", owner: "fourth" });
    expect(state.run).toMatchObject({ soloCrashes: 1 });
  });

  it("leaves when the takeover cannot be recorded", async () => {
    store({ type: "warning", code: "resumes_alone", message: "" });
    log = { ...log, append: () => Promise.reject(new Error("The disk is full.")) };
    await expect(enter()).rejects.toThrow("The disk is full.");
    expect(hasLeft).toBe(true);
  });
});

import { beforeEach, describe, expect, it } from "vitest";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import { createProcessGate, type LeaveProcess, type ProcessGate } from "./process-gate.ts";

const maxWaitMs = 100;
const trialMs = 1000;
let clock: FakeClock;
let gate: ProcessGate;
let trace: string[];
const leave = new Map<string, LeaveProcess>();

beforeEach(() => {
  clock = fakeClock();
  gate = createProcessGate(clock, maxWaitMs);
  trace = [];
  leave.clear();
});

const { signal } = new AbortController();
const flush = () => clock.advance(0);

async function enter(name: string, stop: AbortSignal = signal): Promise<void> {
  leave.set(name, await gate.enter(stop));
  trace.push(`${name} enters`);
}

type AloneOptions = { readonly stop?: AbortSignal; endSolo?(): Promise<void> };

async function enterAlone(runId: string, options: AloneOptions = {}): Promise<void> {
  const { stop = signal, endSolo = async () => void trace.push(`${runId} shares`) } = options;
  const place = await gate.enterAlone({ runId, trialMs, signal: stop, endSolo });
  leave.set(runId, place.leave);
  trace.push(`${runId} enters${place.isAlone ? " alone" : ""}`);
}

describe("the gate of a process", () => {
  it("admits any number of runs side by side", async () => {
    await Promise.all([enter("a"), enter("b"), enter("c")]);
    expect(trace).toEqual(["a enters", "b enters", "c enters"]);
  });

  it("admits a suspect alone after the process was up for the length of a trial, and then the next one (F77)", async () => {
    void enterAlone("s");
    void enterAlone("t");
    await clock.advance(trialMs - 1);
    expect(trace).toEqual([]);
    await clock.advance(1);
    expect(trace).toEqual(["s enters alone"]);
    leave.get("s")?.();
    await flush();
    expect(trace).toEqual(["s enters alone", "t enters alone"]);
  });

  it("admits the next suspect when the first has left, not when it has made progress", async () => {
    void enterAlone("s");
    void enterAlone("t");
    await clock.advance(trialMs);
    gate.share("s");
    await clock.advance(trialMs);
    expect(trace).toEqual(["s enters alone"]);
    leave.get("s")?.();
    await flush();
    expect(trace).toEqual(["s enters alone", "t enters alone"]);
  });

  it("keeps other runs out until the suspect makes progress", async () => {
    void enterAlone("s");
    await clock.advance(trialMs);
    void enter("a");
    gate.share("another run");
    await clock.advance(maxWaitMs - 1);
    expect(trace).toEqual(["s enters alone"]);
    gate.share("s");
    await flush();
    expect(trace).toEqual(["s enters alone", "a enters"]);
  });

  it("ends a trial after its time, so that a process that crashes later by itself proves nothing", async () => {
    void enterAlone("s");
    await clock.advance(2 * trialMs - 1);
    expect(trace).toEqual(["s enters alone"]);
    await clock.advance(1);
    await enter("a");
    expect(trace).toEqual(["s enters alone", "s shares", "a enters"]);
  });

  it("lets a run that has waited for long in only after the suspect is recorded as no longer alone", async () => {
    const stored = Promise.withResolvers<void>();
    void enterAlone("s", {
      async endSolo() {
        trace.push("s shares");
        await stored.promise;
        trace.push("stored");
      },
    });
    await clock.advance(trialMs);
    void enter("a");
    void enter("b");
    await clock.advance(maxWaitMs);
    expect(trace).toEqual(["s enters alone", "s shares"]);
    stored.resolve();
    await flush();
    expect(trace).toEqual(["s enters alone", "s shares", "stored", "a enters", "b enters"]);
  });

  it("keeps other runs out when that cannot be recorded, until the suspect leaves", async () => {
    void enterAlone("s", { endSolo: () => Promise.reject(new Error("The disk is full.")) });
    await clock.advance(trialMs);
    void enter("a");
    await clock.advance(10 * trialMs);
    expect(trace).toEqual(["s enters alone"]);
    leave.get("s")?.();
    await flush();
    expect(trace).toEqual(["s enters alone", "a enters"]);
  });

  it("waits for the runs in the process to leave, and admits no new ones meanwhile", async () => {
    await enter("a");
    void enterAlone("s");
    await clock.advance(trialMs);
    void enter("b");
    await clock.advance(maxWaitMs - 1);
    expect(trace).toEqual(["a enters"]);
    leave.get("a")?.();
    await flush();
    expect(trace).toEqual(["a enters", "s enters alone"]);
  });

  it("admits suspects beside the others when those do not leave", async () => {
    await enter("a");
    void enterAlone("s");
    void enterAlone("t");
    await clock.advance(9 * trialMs - 1);
    expect(trace).toEqual(["a enters"]);
    await clock.advance(1);
    expect(trace).toEqual(["a enters", "s enters", "t enters"]);
  });

  it("admits a suspect beside the others when a new run has waited for long", async () => {
    await enter("a");
    void enterAlone("s");
    await clock.advance(trialMs);
    void enter("b");
    await clock.advance(maxWaitMs);
    expect([...trace].sort()).toEqual(["a enters", "b enters", "s enters"]);
  });

  it("admits waiting runs between two suspects, so that suspects cannot keep them out", async () => {
    void enterAlone("s");
    void enterAlone("t");
    await clock.advance(trialMs);
    void enter("a");
    leave.get("s")?.();
    await flush();
    expect(trace).toEqual(["s enters alone", "a enters"]);
    leave.get("a")?.();
    await flush();
    expect(trace.at(-1)).toBe("t enters alone");
  });

  it("admits an aborted run at once, wherever it waits, and others as before", async () => {
    const stop = new AbortController();
    void enterAlone("s");
    void enterAlone("queued", { stop: stop.signal });
    await clock.advance(trialMs);
    void enterAlone("backing off", { stop: stop.signal });
    void enter("a", stop.signal);
    await flush();
    expect(trace).toEqual(["s enters alone"]);
    stop.abort();
    await flush();
    expect(trace.slice(1).sort()).toEqual(["a enters", "backing off enters", "queued enters"]);
    for (const name of ["a", "backing off", "queued", "s"]) leave.get(name)?.();
    void enterAlone("t");
    await clock.advance(trialMs);
    expect(trace.at(-1)).toBe("t enters alone");
    expect(clock.pending).toBe(1);
  });
});

import { describe, expect, it } from "vitest";
import { systemClock } from "../base/clock.ts";
import { createProcessGate } from "../features/recovery/process-gate.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Event } from "../kernel/event.ts";
import { identifyFact } from "../kernel/ids.ts";
import { defineTool } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { breakAppend } from "../testing/break-append.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { resume, run } from "./run.ts";
import type { Run } from "./run-handle.ts";
import type { AppendOptions, Store } from "./store.ts";

type Append = { readonly types: readonly string[]; readonly at: AppendOptions };

/** A store that lists its appends. */
function createListingStore(): Store & { readonly appends: Append[] } {
  const store = memory();
  const appends: Append[] = [];
  return {
    ...store,
    appends,
    append(facts, at) {
      appends.push({ types: facts.map(({ type }) => type), at });
      return store.append(facts, at);
    },
  };
}

function createWorker(work: (input: string) => Promise<string> | string, calls: readonly string[][]) {
  const tool = defineTool({
    name: "work",
    description: "Works.",
    input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    effects: "none",
    reads: ["public"],
    execute: ({ name }) => work(name),
  });
  // From the history alone, so that a model call that is repeated gets the same answer.
  const model = scriptedModel(({ history }) => {
    const names = calls[history.filter(({ type }) => type === "assistant").length];
    return names ? { calls: names.map((name) => ({ name: "work", input: { name } })) } : { text: "Done." };
  });
  return defineAgent({ name: "worker", model, tools: [tool] });
}

const options = { session: "s", runId: "r" };

describe("the facts of a step", () => {
  it("are stored with those of the next: a result together with an intent, or with the end of its turn (S3-14)", async () => {
    const store = createListingStore();
    const result = await run(
      createWorker((name) => name, [["a"], ["b", "c"]]),
      "Go",
      { ...options, store },
    );
    expect(result.text).toBe("Done.");
    expect(store.appends.map(({ types }) => types.join(" "))).toEqual([
      "run_start",
      "turn_start",
      "message tool_call_start",
      "tool_call_result turn_end turn_start",
      "message tool_call_start tool_call_start",
      "tool_call_result tool_call_result turn_end turn_start",
      "message turn_end",
      "done",
    ]);
  });

  it("end a turn before the next one is decided on, if a listener may steer the run", async () => {
    const listed: string[][] = [];
    for (const listener of ["reader", "hook"]) {
      const store = createListingStore();
      const steer = (event: Event) =>
        event.type === "turn_end" && event.turn === 1 && started.steer("Faster.");
      const hooks = listener === "hook" ? { onEvent: (event: Event) => void steer(event) } : {};
      const agent = createWorker((name) => name, [["a"]]);
      const started: Run = run(agent, "Go", { ...options, store, hooks });
      if (listener === "reader") for await (const event of started) steer(event);
      expect((await started).text).toBe("Done.");
      listed.push(store.appends.map(({ types }) => types.join(" ")));
    }
    expect(listed[0]?.slice(3)).toEqual([
      "tool_call_result turn_end",
      "steered",
      "turn_start",
      "message turn_end",
      "done",
    ]);
    expect(listed[1]).toEqual(listed[0]);
  });

  it("are stored before the next effect is performed, and before a reader gets them (S3-14)", async () => {
    const store = memory();
    const countStored = async () => (await store.read("s")).length;
    const types: string[] = [];
    const work = async () => {
      types.push(...(await store.read("s")).map(({ type }) => type));
      return "ok";
    };
    const started = run(createWorker(work, [["a"]]), "Go", { ...options, store });
    for await (const event of started)
      if ("seq" in event) expect(await countStored()).toBeGreaterThanOrEqual(event.seq);
    expect(types).toEqual(["run_start", "turn_start", "message", "tool_call_start"]);
  });

  it("are stored while other calls of the turn are still running", async () => {
    const store = memory();
    const slow = Promise.withResolvers<string>();
    const agent = createWorker((name) => (name === "slow" ? slow.promise : name), [["slow", "quick"]]);
    const started = run(agent, "Go", { ...options, store });
    for await (const event of started) if (event.type === "tool_call_result") break;
    const results = (await store.read("s")).filter(({ type }) => type === "tool_call_result");
    expect(results).toMatchObject([{ result: "quick" }]);
    slow.resolve("late");
    expect((await started).text).toBe("Done.");
  });

  it("are stored before the run is released, if the process shuts down", async () => {
    const store = memory();
    const shutdown = new AbortController();
    const agent = createWorker(() => {
      shutdown.abort();
      return "ok";
    }, [["a"]]);
    const gate = createProcessGate(systemClock, 60_000);
    const shared = { owner: "first", leaseMs: 60_000, gate, shutdownSignal: shutdown.signal };
    const started = run(agent, "Go", { ...options, store, shared });
    await expect(started).rejects.toMatchObject({ code: "aborted" });
    expect((await store.read("s")).map(({ type }) => type)).toContain("tool_call_result");
  });
});

describe("a store that fails while a result is in the state only", () => {
  it("rejects the run; a later message continues it from the stored facts (S0-20)", async () => {
    for (const appends of [2, 3, 4, 5, 6, 7]) {
      const store = memory();
      let executions = 0;
      const agent = createWorker(() => `${++executions}`, [["a"], ["b"]]);
      const broken = breakAppend(store, appends);
      const started = run(agent, "Go", { ...options, store });
      await expect(started).rejects.toThrow("disk gone");
      const before = await store.read("s");
      broken.repair();
      started.steer("Continue.");
      expect((await started).status).toBe("done");
      const facts = await store.read("s");
      expect(facts.slice(0, before.length)).toEqual(before);
      expect(new Set(facts.map(identifyFact)).size).toBe(facts.length);
      expect(facts.filter(({ type }) => type === "tool_call_result")).toHaveLength(2);
      expect((await resume(agent, { store, runId: "r" })).history).toEqual((await started).history);
    }
  });
});

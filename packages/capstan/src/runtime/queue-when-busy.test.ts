import { describe, expect, it } from "vitest";
import { rejectOnAbort } from "../base/clock.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import { toPlainText } from "../kernel/history.ts";
import type { PolicyOverrides } from "../kernel/policy.ts";
import { defineTool } from "../kernel/tool.ts";
import { session as openSession } from "../sessions/session.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { type ScriptedModel, type ScriptedRequest, scriptedModel } from "../testing/scripted-model.ts";
import { type RunOptions, resume, run } from "./run.ts";
import type { Store } from "./store.ts";

const listTexts = ({ history }: Pick<ScriptedRequest, "history">): readonly string[] =>
  history.flatMap((entry) => (entry.type === "user" ? [toPlainText(entry.content)] : []));

type Desk = { readonly agent: Agent; readonly model: ScriptedModel; readonly store: Store; open(): void };

/** An agent whose answers wait until `open` is called. */
function createDesk(): Desk {
  const gate = Promise.withResolvers<void>();
  const model = scriptedModel((request) => ({ text: `Re: ${listTexts(request).at(-1)}`, delayMs: 0 }), {
    wait: (_, signal) => rejectOnAbort(gate.promise, signal),
  });
  return { agent: defineAgent({ name: "desk", model }), model, store: memory(), open: gate.resolve };
}

const withPolicy = ({ store }: Desk, onBusy: PolicyOverrides["onBusy"]): RunOptions => ({
  ...{ store, session: "s" },
  ...(onBusy && { policy: { onBusy } }),
});

async function listRuns(store: Store): Promise<readonly string[]> {
  const facts = await openSession(store, "s").facts();
  return facts.flatMap((fact) => (fact.type === "done" ? [`${fact.runId} ${fact.status}`] : []));
}

describe("a message while its session has an unfinished run", () => {
  it("becomes a run of its own after the others, in the order of the calls", async () => {
    const desk = createDesk();
    const options = withPolicy(desk, undefined);
    const start = (text: string) => run(desk.agent, text, { ...options, runId: text });
    const [first, second, third] = [start("a"), start("b"), start("c")];
    const runs = [first, second, third];
    const events = collect(third);
    desk.open();
    expect(await Promise.all(runs.map(async (each) => (await each).text))).toEqual([
      "Re: a",
      "Re: b",
      "Re: c",
    ]);
    expect(desk.model.requests.map(listTexts)).toEqual([["a"], ["a", "b"], ["a", "b", "c"]]);
    expect((await events).facts.map(({ type }) => type)).toContain("run_start");
    expect(await listRuns(desk.store)).toEqual(["a done", "b done", "c done"]);
  });

  it("waits for a run that waits for the user, also one that was resumed", async () => {
    const send = defineTool({
      name: "send",
      description: "Sends.",
      input: {},
      needsApproval: true,
      execute: () => "Sent.",
    });
    const model = scriptedModel(({ history }) =>
      history.some(({ type }) => type === "result")
        ? { text: "Ok." }
        : { calls: [{ id: "c1", name: "send" }] },
    );
    const agent = defineAgent({ name: "mailer", model, tools: [send] });
    const options = { store: memory(), session: "s" };
    await run(agent, "Send it.", { ...options, runId: "first" });
    const second = run(agent, "And now?", { ...options, runId: "second" });
    expect(await resume(agent, { store: options.store, runId: "first" }).approve("c1")).toMatchObject({
      status: "done",
    });
    expect(await second).toMatchObject({ status: "done", runId: "second" });
  });

  it("can be cancelled before its turn: it ends at once, and its session has no record of it", async () => {
    const desk = createDesk();
    const options = withPolicy(desk, "queue");
    const stop = new AbortController();
    const first = run(desk.agent, "a", { ...options, runId: "a" });
    const second = run(desk.agent, "b", { ...options, runId: "b" });
    const third = run(desk.agent, "c", { ...options, runId: "c", signal: stop.signal });
    const fourth = run(desk.agent, "d", { ...options, runId: "d" });
    expect(await second.cancel("Never mind.")).toMatchObject({ status: "cancelled", runId: "b", turns: 0 });
    stop.abort(new Error("Gone."));
    expect(await third).toMatchObject({ status: "cancelled", error: { message: "Gone." } });
    desk.open();
    expect((await Promise.all([first, fourth])).map(({ text }) => text)).toEqual(["Re: a", "Re: d"]);
    expect(desk.model.requests.map(listTexts)).toEqual([["a"], ["a", "d"]]);
  });

  it("receives what was sent to its handle once it has started", async () => {
    const desk = createDesk();
    const options = withPolicy(desk, "queue");
    const first = run(desk.agent, "a", options);
    const second = run(desk.agent, "b", options).steer("Briefly.");
    desk.open();
    await first;
    expect(await second).toMatchObject({ status: "done", text: "Re: Briefly." });
  });

  it("with `steer` reaches the unfinished run before its next decision, and the caller gets that run", async () => {
    const desk = createDesk();
    const options = withPolicy(desk, "steer");
    const first = run(desk.agent, "a", { ...options, runId: "a" });
    const second = run(desk.agent, "b", { ...options, runId: "b" });
    expect(second.id).toBe("a");
    desk.open();
    expect((await second).text).toBe("Re: b");
    expect(await first).toEqual(await second);
    expect(await listRuns(desk.store)).toEqual(["a done"]);
  });

  it("with `steer` becomes a run of its own if it is more than a text", async () => {
    const desk = createDesk();
    const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
    const first = run(desk.agent, "a", withPolicy(desk, "steer"));
    const second = run(desk.agent, [{ type: "text", text: "b" }, image], withPolicy(desk, "steer"));
    desk.open();
    expect((await first).text).toBe("Re: a");
    expect(await second).toMatchObject({ status: "done", text: expect.stringContaining("Re: b") });
  });

  it("with `steer` becomes a run of its own if the unfinished run is about to end", async () => {
    const desk = createDesk();
    const options = withPolicy(desk, "steer");
    const late = Promise.withResolvers<void>();
    let second: PromiseLike<{ readonly text: string }> | undefined;
    const onEvent = ({ type }: { readonly type: string }) => {
      if (type !== "done" || second) return;
      second = run(desk.agent, "b", options);
      late.resolve();
    };
    const first = run(desk.agent, "a", { ...options, hooks: { onEvent } });
    desk.open();
    await late.promise;
    expect((await first).text).toBe("Re: a");
    expect((await second)?.text).toBe("Re: b");
  });

  it("with `interrupt` cancels the unfinished run and is next; several lose none", async () => {
    const desk = createDesk();
    const options = withPolicy(desk, "interrupt");
    const runs = ["a", "b", "c"].map((text) => run(desk.agent, text, { ...options, runId: text }));
    desk.open();
    expect(await Promise.all(runs.map(async (each) => (await each).status))).toEqual([
      ...["cancelled", "cancelled", "done"],
    ]);
    expect(listTexts(desk.model.requests.at(-1) ?? { history: [] })).toEqual(["a", "b", "c"]);
    expect(await listRuns(desk.store)).toEqual(["a cancelled", "b cancelled", "c done"]);
  });

  it("with `interrupt` passes queued runs, which are answered afterwards", async () => {
    const desk = createDesk();
    const first = run(desk.agent, "a", withPolicy(desk, "queue"));
    const second = run(desk.agent, "b", withPolicy(desk, "queue"));
    const third = run(desk.agent, "c", withPolicy(desk, "interrupt"));
    desk.open();
    expect((await first).status).toBe("cancelled");
    expect((await third).text).toBe("Re: c");
    expect((await second).text).toBe("Re: b");
    expect(desk.model.requests.slice(-2).map(listTexts)).toEqual([
      ["a", "c"],
      ["a", "c", "b"],
    ]);
  });

  it("with `interrupt` cancels a run that waits for the user", async () => {
    const ask = defineTool({
      name: "ask",
      description: "Asks.",
      input: {},
      needsApproval: true,
      execute: () => "",
    });
    const model = scriptedModel([{ calls: [{ id: "c1", name: "ask" }] }, { text: "Now this." }]);
    const agent = defineAgent({ name: "asker", model, tools: [ask] });
    const options = { store: memory(), session: "s" };
    await run(agent, "a", { ...options, runId: "a" });
    const second = run(agent, "b", { ...options, policy: { onBusy: "interrupt" } });
    expect(await second).toMatchObject({ status: "done", text: "Now this." });
    expect(await listRuns(options.store)).toEqual(["a cancelled", expect.stringContaining("done")]);
  });

  it("is rejected at once if it is invalid", async () => {
    const desk = createDesk();
    const first = run(desk.agent, "a", withPolicy(desk, "queue"));
    const invalid = run(desk.agent, [{ type: "nothing" }] as never, withPolicy(desk, "queue"));
    await expect(invalid).rejects.toMatchObject({ code: "invalid_input" });
    desk.open();
    expect((await first).status).toBe("done");
  });

  it("is rejected if the unfinished run is not of this process, which would wait for ever", async () => {
    const store = memory();
    const hang = scriptedModel([{ hang: true }]);
    const left = run(defineAgent({ name: "desk", model: hang }), "a", { store: { ...store }, session: "s" });
    await expect.poll(() => hang.requests.length).toBe(1);
    const { agent } = createDesk();
    await expect(run(agent, "b", { store, session: "s" })).rejects.toMatchObject({ code: "session_busy" });
    await left.cancel();
  });
});

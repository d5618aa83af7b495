import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { session } from "./session.ts";
import { sessions } from "./sessions.ts";

const pay = defineTool({
  name: "pay",
  description: "Pays",
  input: { type: "object" },
  needsApproval: "It costs.",
  execute: () => "paid",
});

function createChat(store: Store, id: string, ...steps: ScriptedStep[]) {
  const agent = defineAgent({ name: "clerk", model: scriptedModel(steps), tools: [pay] });
  return (text: string, runId?: string) =>
    run(agent, text, { store, session: id, clock: fakeClock(), ...(runId && { runId }) });
}

describe("a session", () => {
  it("lists its runs in order, with status, question and usage", async () => {
    const store = memory();
    const usage = { inputTokens: 100, outputTokens: 10, cost: 0.5 };
    const ask = createChat(store, "s1", { text: "Hello.", usage }, { calls: [{ name: "pay" }], usage });
    await ask("Good morning to you all", "r1");
    await ask("Pay the bill", "r2");
    const at = Date.UTC(2026, 0, 1);
    expect(await session(store, "s1").info()).toEqual({
      id: "s1",
      title: "Good morning to you all",
      facts: (await store.read("s1")).length,
      createdAt: at,
      updatedAt: at,
      usage: { inputTokens: 200, outputTokens: 20, cost: 1 },
      cost: 1,
      runs: [
        {
          ...{ runId: "r1", agent: "clerk", status: "done", words: "Good morning to you all", turns: 1 },
          ...{ startedAt: at, updatedAt: at, usage, cost: 0.5 },
        },
        {
          ...{ runId: "r2", agent: "clerk", status: "waiting", words: "Pay the bill", turns: 1 },
          ...{ startedAt: at, updatedAt: at, usage, cost: 0.5 },
        },
      ],
    });
  });

  it("starts runs, which see its history", async () => {
    const store = memory();
    const model = scriptedModel([{ text: "Hello." }, { text: "Again." }]);
    const agent = defineAgent({ name: "clerk", model });
    const { run: ask, info } = session(store, "s1");
    expect(await ask(agent, "Hi")).toMatchObject({ text: "Hello.", sessionId: "s1" });
    await ask(agent, "Hi again", { runId: "r2" });
    expect(model.requests[1]?.history).toHaveLength(3);
    expect((await info()).runs[1]).toMatchObject({ runId: "r2", words: "Hi again" });
  });

  it("is titled by its stored name, or by its first words, cut at a word and escaped", async () => {
    const store = memory();
    const long =
      "Please\n tell \u202eme, how many bridges there are between the old town and the harbour of Oslo";
    await createChat(store, "s1", { text: "Three." })(long);
    const { rename, info } = session(store, "s1");
    expect((await info()).title).toBe("Please tell \\u{202e}me, how many bridges there are between…");
    await rename("Bridges");
    expect((await info()).title).toBe("Bridges");
    await rename("");
    expect((await info()).title).toMatch(/^Please tell/);
    await createChat(store, "s2", { text: "?" })("x".repeat(500));
    expect((await session(store, "s2").info()).title).toBe(`${"x".repeat(60)}…`);
    const agent = defineAgent({ name: "helper", model: scriptedModel([{ text: "A cat." }]) });
    const picture = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
    await run(agent, [{ type: "text", text: "What is this?" }, picture], { store, session: "s3" });
    expect((await session(store, "s3").info()).title).toBe("What is this?");
  });

  it("keeps the full history for the next run (S0-18, S0-04)", async () => {
    const store = memory();
    const ask = createChat(store, "s1", { text: "Hello Ann." }, { text: "You are Ann." });
    await ask("I am Ann.");
    const { history } = await ask("Who am I?");
    expect(await session(store, "s1").history()).toEqual(history);
    expect(history).toHaveLength(4);
  });

  it("keeps the results of each query in its facts and in every export (S3-52)", async () => {
    const store = memory();
    const source = { title: "Harbour office", url: "https://example.org/harbour" };
    const look = defineTool({
      name: "look",
      description: "Looks things up",
      input: { type: "object" },
      effects: "none",
      execute: () => ({ content: "Since 1070.", contexts: [{ id: "f1", content: "1070", source }] }),
    });
    const model = scriptedModel([{ calls: [{ name: "look", input: { of: "harbour" } }] }, { text: "1070." }]);
    await run(defineAgent({ name: "a", model, tools: [look] }), "Since when?", { store, session: "s1" });
    const results = (await session(store, "s1").facts()).filter((fact) => fact.type === "tool_call_result");
    expect(results).toMatchObject([{ status: "ok", result: "Since 1070.", contexts: [{ source }] }]);
    for (const format of ["json", "markdown", "html"] as const)
      for (const found of ["Since 1070.", "Harbour office", "https://example.org/harbour"])
        expect(await session(store, "s1").export(format)).toContain(found);
  });

  it("returns its facts after a position", async () => {
    const store = memory();
    await createChat(store, "s1", { text: "Hi." })("Hi.");
    const facts = await store.read("s1");
    expect(await session(store, "s1").facts()).toEqual(facts);
    expect(await session(store, "s1").facts(2)).toEqual(facts.slice(2));
  });

  it("without runs can be read, renamed, exported and removed", async () => {
    const clock = fakeClock();
    const store = memory({ clock });
    await store.create("s1");
    const empty = session(store, "s1");
    const at = clock.now();
    const nothing = { facts: 0, createdAt: at, updatedAt: at, runs: [], cost: 0 };
    expect(await empty.info()).toMatchObject({ id: "s1", title: "Untitled", ...nothing });
    await empty.rename("Plans");
    expect(await sessions(store).list()).toMatchObject([{ id: "s1", title: "Plans", facts: 0 }]);
    expect([await empty.facts(), await empty.history()]).toEqual([[], []]);
    expect(await empty.export("markdown")).toContain("# Plans");
    expect(await empty.export("html")).toContain("Plans");
    expect(JSON.parse(await empty.export("json"))).toMatchObject({ id: "s1", title: "Plans", facts: [] });
    expect(await empty.replay().next()).toEqual({ done: true, value: undefined });
    await expect(empty.fork(1)).rejects.toMatchObject({ code: "invalid_input" });
    await empty.remove();
    await expect(empty.info()).rejects.toMatchObject({ code: "not_found" });
  });

  it("keeps its initial title when a run starts in it", async () => {
    const store = memory();
    await store.create("s1", "Plans");
    await createChat(store, "s1", { text: "Hi." })("Good morning");
    expect(await session(store, "s1").info()).toMatchObject({ title: "Plans", runs: [{ status: "done" }] });
    const copy = await session(store, "s1").fork(1);
    expect((await copy.info()).title).toBe("Plans (fork)");
  });

  it("that is empty is not overwritten or removed by a fork or import with its id", async () => {
    const store = memory();
    await createChat(store, "s1", { text: "Hi." })("Good morning");
    await store.create("s2", "Mine");
    await expect(session(store, "s1").fork(1, { id: "s2" })).rejects.toMatchObject({ code: "invalid_input" });
    const file = JSON.parse(await session(store, "s1").export("json"));
    expect((await sessions(store).import(JSON.stringify({ ...file, id: "s2" }))).id).not.toBe("s2");
    expect(await session(store, "s2").info()).toMatchObject({ title: "Mine", facts: 0 });
  });

  it("is not found after it is removed", async () => {
    const store = memory();
    await createChat(store, "s1", { text: "Hi." })("Hi.");
    const removed = session(store, "s1");
    await removed.remove();
    const isMissing = { code: "not_found", message: expect.stringContaining('Session "s1" not found') };
    for (const result of [
      removed.info(),
      removed.history(),
      removed.rename("x"),
      removed.remove(),
      removed.fork(1),
    ])
      await expect(result).rejects.toMatchObject(isMissing);
    await expect(removed.export("json")).rejects.toMatchObject(isMissing);
    await expect(removed.replay().next()).rejects.toMatchObject(isMissing);
  });
});

describe("all sessions", () => {
  it("are listed with their titles", async () => {
    const store = memory();
    await createChat(store, "s1", { text: "Hi." })("First question");
    await createChat(store, "s2", { text: "Hi." })("Second question");
    await session(store, "s2").rename("Mine");
    const listed = await sessions(store).list();
    expect(listed.map(({ id, title }) => `${id} ${title}`).sort()).toEqual(["s1 First question", "s2 Mine"]);
    expect(await sessions(store).list({ limit: 1 })).toHaveLength(1);
  });

  it("are found by words, with the matching places", async () => {
    const store = memory();
    await createChat(store, "s1", { text: "The red lighthouse." }, { text: "No." })("Which lighthouse?");
    await createChat(store, "s2", { text: "A lighthouse, too." })("What is there?");
    await session(store, "s2").rename("Coast");
    const found = await sessions(store).search("lighthouse");
    expect(found.map(({ id, title, places }) => [id, title, places.length])).toEqual([
      ["s1", "Which lighthouse?", 2],
      ["s2", "Coast", 1],
    ]);
    expect(found[1]?.places[0]?.excerpt).toBe("A lighthouse, too.");
    expect(await sessions(store).search("submarine")).toEqual([]);
  });

  it("are listed reading only the first fact of each", async () => {
    const store = memory();
    await createChat(store, "s1", { text: "Hi." })("First question");
    const read: number[] = [];
    const counting: Store = {
      ...store,
      async read(...result) {
        const facts = await store.read(...result);
        read.push(facts.length);
        return facts;
      },
    };
    expect(await sessions(counting).list()).toMatchObject([{ title: "First question" }]);
    expect(read).toEqual([1]);
  });

  it("are listed and searched within their scope only (A95)", async () => {
    const store = memory();
    for (const id of ["ann~1", "ann~2", "annie~1", "bob~1", "alone"])
      await createChat(store, id, { text: "A lighthouse." })(`Question of ${id}`);
    const { list, search } = sessions(store);
    const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id).sort();
    expect(ids(await list({ scope: "ann" }))).toEqual(["ann~1", "ann~2"]);
    expect(ids(await list({ scope: "" }))).toEqual(["alone"]);
    expect(await list({ scope: "ann", limit: 1 })).toHaveLength(1);
    expect(ids(await search("lighthouse", { scope: "bob" }))).toEqual(["bob~1"]);
    expect(await search("lighthouse", { scope: "ann", limit: 1 })).toHaveLength(1);
    expect(await search("lighthouse")).toHaveLength(5);
  });
});

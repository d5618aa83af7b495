import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Event, run } from "capstan";
import { offline } from "capstan/models";
import { memory } from "capstan/stores/memory";
import { collect, scriptedModel } from "capstan/testing";
import { afterAll, describe, expect, it } from "vitest";
import { type GraphOptions, graph } from "./agent.ts";
import { createCatalog } from "./catalog.ts";
import { pets } from "./data/pets.ts";
import { defineGraphAgent } from "./define-graph-agent.ts";
import { memoryViews } from "./view.ts";

const folder = mkdtempSync(join(tmpdir(), "graph-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));

const sample = { calls: [{ name: "sampleData", input: { count: 20 } }] };

async function runWith(options: GraphOptions, model = scriptedModel([sample, { text: "Seen." }])) {
  const result = await run(await graph({ ...options, model, folder }), "Show samples", { store: memory() });
  return { result, requests: model.requests, sent: JSON.stringify(model.requests) };
}

describe("the options have the names of the seed", () => {
  it("maxToolIterations limits the model calls of a message (S2-27)", async () => {
    const endless = scriptedModel((_, turn) => ({
      calls: [{ name: "sampleData", input: { count: turn + 1 } }],
    }));
    const { result, requests } = await runWith({ maxToolIterations: 3 }, endless);
    expect(requests).toHaveLength(3);
    expect(result).toMatchObject({ status: "failed", text: "Maximum tool iterations reached" });
  });

  it("includeToolDataInContext: false keeps all data out of the requests to the model (S2-28)", async () => {
    expect((await runWith({})).sent).toContain("tabby");
    const { sent, result } = await runWith({ includeToolDataInContext: false });
    expect(sent).toContain("Returned 20 node samples.");
    for (const value of ["tabby", "Shadow", "cat1", "Old Mill"]) expect(sent).not.toContain(value);
    expect(result.status).toBe("done");
  });

  it("maxToolResultSize limits the characters of a result (S2-29)", async () => {
    const { requests } = await runWith({ maxToolResultSize: 500 });
    const result = requests[1]?.history.at(-1);
    const content = result?.type === "result" ? String(result.content) : "";
    expect(content.length).toBeLessThanOrEqual(500);
    expect(JSON.parse(content)).toMatchObject({ success: true, data: { total: 20 } });
  });
});

it("afterTools is another model for the turns that process results (S2-36)", async () => {
  const model = scriptedModel([sample]);
  const afterTools = scriptedModel([{ text: "Whiskers, Mittens and others." }]);
  const agent = await graph({ model, afterTools, folder });
  const result = await run(agent, "Show samples", { store: memory() });
  expect(result).toMatchObject({ status: "done", text: "Whiskers, Mittens and others." });
  expect([model.requests.length, afterTools.requests.length]).toEqual([1, 1]);
  expect(JSON.stringify(afterTools.requests[0]?.history)).toContain("tabby");
});

const isHit = (events: readonly Event[]): boolean =>
  events.some((event) => event.type === "tool_call_result" && event.cached === true);

describe("the cache of results (S2-37, S2-42)", () => {
  const ask = async (agent: Awaited<ReturnType<typeof graph>>, questions: readonly string[]) => {
    const options = { store: memory(), session: "s" };
    const hits: [hit: boolean, text: string][] = [];
    for (const question of questions) {
      const { events, result } = await collect(run(agent, question, options));
      hits.push([isHit(events), result.text]);
    }
    return hits;
  };

  it("answers a repeated question about the algorithms without another call", async () => {
    const question = "Which algorithms can you run?";
    const [first, second] = await ask(await graph({ model: offline(), folder }), [question, question]);
    expect([first?.[0], second?.[0]]).toEqual([false, true]);
    expect(second?.[1]).toBe(first?.[1]);
    expect(second?.[1]).toContain("PageRank");
  });

  it("covers samples and properties of an only graph", async () => {
    const context = { catalog: createCatalog({ pets: () => pets }), views: memoryViews() };
    const agent = await defineGraphAgent({ ...context, reads: "private" }, { model: offline() });
    const questions = ["What are some sample nodes?", "What are some sample nodes?", "Show 2 sample nodes"];
    expect((await ask(agent, questions)).map(([hit]) => hit)).toEqual([false, true, false]);
  });

  it("never mixes up two graphs of a session", async () => {
    const hits = await ask(await graph({ model: offline(), folder }), [
      "What are some sample nodes?",
      "Open the miserables graph",
      "What are some sample nodes?",
    ]);
    expect(hits.map(([hit]) => hit)).toEqual([false, false, false]);
    expect(hits[2]?.[1]).toContain("Myriel");
  });
});

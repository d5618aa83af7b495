import { type Event, isFact, type PolicyOverrides, run } from "capstan";
import { offline } from "capstan/models/offline";
import { memory } from "capstan/stores/memory";
import { collect, fakeClock, type Script, type ScriptedStep, scriptedModel } from "capstan/testing";
import { describe, expect, it } from "vitest";
import { type KnowledgeOptions, knowledge } from "./agent.ts";
import { createLibrary } from "./library/library.ts";
import { trace } from "./trace-names.ts";

const library = createLibrary({ indexFolder: false });
const quiet: ScriptedStep = { text: "A turn." };

/** The app's agents with scripted models. */
async function createApp(script: Script, more: KnowledgeOptions = {}) {
  const model = scriptedModel(script);
  const summaryModel = scriptedModel(() => quiet, { id: "summary" });
  const [agent] = await knowledge({ model, summaryModel, library, ...more });
  return { agent, model, summaryModel };
}

type Settings = { readonly policy?: PolicyOverrides; readonly timeZone?: string; readonly context?: unknown };

async function runQuestion(
  script: Script,
  question: string,
  settings: Settings = {},
  more: KnowledgeOptions = {},
) {
  const { agent, ...models } = await createApp(script, more);
  const store = memory();
  const collected = await collect(run(agent, question, { store, clock: fakeClock(), ...settings }));
  return { ...collected, ...models };
}

const createSearch = (query: string, limit?: number): ScriptedStep => ({
  calls: [{ id: query, name: "search_knowledge_base", input: { query, ...(limit && { limit }) } }],
});
const getToolNames = (request: { readonly tools: readonly { readonly name: string }[] } | undefined) =>
  request?.tools.map(({ name }) => name);
const filterEvents = (events: readonly Event[], type: Event["type"]) =>
  events.filter(isFact).filter((fact) => fact.type === type);

const mainTools = ["search_knowledge_base", "get_document", "search_email", "search_people", "ask_agent"];

describe("knowledge search with scripted models", () => {
  it("scenario K1: a question is answered from one README with [1], and a number without a source is dropped and reported (S3-38, S3-53, S3-55)", async () => {
    const answer = { text: "Call `.parse` with the input [1]. See also [9].", split: 8 };
    const { facts, result } = await runQuestion(
      [createSearch("parsing data with zod", 1), answer],
      "How do I use zod?",
    );
    expect(result.text).toBe("Call `.parse` with the input [1]. See also.");
    expect(result.citations).toEqual([
      { n: 1, id: "zod#parsing-data", title: "zod README: Parsing data", url: "https://zod.dev" },
    ]);
    expect(facts.find((fact) => fact.type === "warning")).toMatchObject({ code: "citation_unknown" });
    expect(facts.find((fact) => fact.type === "tool_call_result")).toMatchObject({
      message: '1 passage for "parsing data with zod".',
      data: { passages: [{ id: "zod#parsing-data", place: "zod/README.md" }] },
      contexts: [{ id: "zod#parsing-data", content: expect.stringContaining("use `.parse` to validate") }],
      ui: { kind: "sources", props: { sources: [{ cited: ["Zod", "parse"] }] } },
    });
  });

  it("scenario K1: the answer is streamed (S3-51)", async () => {
    const answer = { text: "Call `.parse` [1].", split: 6 };
    const { events } = await runQuestion([createSearch("parsing data with zod", 1), answer], "How?");
    const last = events.findLastIndex(({ type }) => type === "turn_start");
    const emitted = events
      .slice(last)
      .map((event) => (event.type === "content_delta" ? event.delta : event.type));
    expect(emitted.slice(0, emitted.indexOf("message"))).toEqual([
      "turn_start",
      "Call `",
      ".parse",
      "` [1].",
      "citation",
    ]);
  });

  it("scenario K2: a summary takes two mail searches, with three and two results, and cites 1 to 5 (S3-39, S3-53, S3-56)", async () => {
    const mails = (input: { query: string; page?: number }): ScriptedStep => ({
      calls: [{ name: "search_email", input }],
    });
    const text =
      "Approved [1] after a cut [2] that finance asked for [3]; it began at 21,000 [4], or 16,000 [5].";
    const { facts, result, model } = await runQuestion(
      [mails({ query: "budget" }), mails({ query: "budget", page: 2 }), { text }],
      "Summarize recent emails about budget",
    );
    const found = facts.flatMap((fact) => (fact.type === "tool_call_result" ? [fact] : []));
    expect(found.map(({ contexts }) => contexts?.map(({ id }) => id))).toEqual([
      ["mail-8", "mail-7", "mail-6"],
      ["mail-4", "mail-2"],
    ]);
    expect(found.map(({ message }) => message)).toEqual([
      '3 of 5 mails for "budget", 2 more on page 2. (The mailbox is fictional.)',
      '2 of 5 mails for "budget". (The mailbox is fictional.)',
    ]);
    expect(model.requests).toHaveLength(3);
    expect(result.text).toBe(text);
    expect(result.citations.map(({ n, id }) => [n, id])).toEqual([
      [1, "mail-8"],
      [2, "mail-7"],
      [3, "mail-6"],
      [4, "mail-4"],
      [5, "mail-2"],
    ]);
  });

  it("scenario K3: a comparison goes to the researcher and back, in turns 1 to 4, and the researcher's sources can be cited (S3-28, S3-30, S3-31, S3-32, S3-33)", async () => {
    const { facts, result, model } = await runQuestion(
      [
        {
          calls: [{ id: "h", name: "handoff", input: { agent: "research-agent", message: "Compare them." } }],
        },
        createSearch("zod valibot parse data", 2),
        { text: "Zod has a method [1], valibot a function [2]." },
        { text: "A method in zod [1], a function in valibot [2]." },
      ],
      "Compare how zod and valibot parse data",
    );
    expect(filterEvents(facts, "turn_start").map(({ turn, agent }) => [turn, agent])).toEqual([
      [1, "knowledge"],
      [2, "research-agent"],
      [3, "research-agent"],
      [4, "knowledge"],
    ]);
    expect(model.requests.map(getToolNames)).toEqual([
      [...mainTools, "handoff"],
      ["search_knowledge_base", "get_document"],
      ["search_knowledge_base", "get_document"],
      [...mainTools, "handoff"],
    ]);
    expect(model.requests.map(({ instructions }) => instructions.split("\n\n")[1])).toEqual([
      "You are a search assistant for the documentation on this machine.",
      expect.stringContaining("You are a researcher."),
      expect.stringContaining("You are a researcher."),
      "You are a search assistant for the documentation on this machine.",
    ]);
    expect(result.text).toBe("A method in zod [1], a function in valibot [2].");
    expect(result.citations.map(({ id }) => id)).toEqual(["zod#parsing-data", "valibot#example"]);
    expect(result.toolCalls.map(({ name }) => name)).toEqual(["search_knowledge_base", "handoff"]);
    const handed = model.requests[3]?.history.find((entry) => entry.type === "result");
    expect(handed).toMatchObject({
      name: "handoff",
      content: expect.stringMatching(
        /^Zod has a method \[1\], valibot a function \[2\]\.\n\nSources, to cite by number: \[1\], \[2\]\./,
      ),
    });
  });

  it("scenario K4: a handoff to an unlisted agent is denied, the model receives the error, and the run continues (S3-29, S3-57)", async () => {
    const { facts, result, model } = await runQuestion(
      [
        { calls: [{ id: "h", name: "handoff", input: { agent: "payroll-agent" } }] },
        createSearch("hono", 1),
        { text: "A web framework [1]." },
      ],
      "What is hono?",
    );
    expect(filterEvents(facts, "handoff_denied")).toMatchObject([{ to: "payroll-agent" }]);
    const emitted = model.requests[1]?.history.at(-1);
    expect(emitted).toMatchObject({
      type: "result",
      content: expect.stringMatching(/payroll-agent[\s\S]*research-agent, people-agent/),
    });
    expect(result).toMatchObject({ status: "done", text: "A web framework [1].", agent: "knowledge" });
  });

  it("scenario K5: at the limit the error is in the trace, fall_back runs, and the answer lists the searches and the gaps (S3-40, S3-41, S3-61)", async () => {
    const { facts, result, model } = await runQuestion(
      (_, index) =>
        createSearch(["zorgulator schema", "zorgulator manual", "validate with zod"][index] ?? ""),
      "Can zod validate a zorgulator?",
      { policy: { maxTurns: 3 } },
    );
    expect(model.requests).toHaveLength(3);
    expect(result.status).toBe("limit");
    expect(result.text).toMatch(/^I could not complete the search: .*3 turns/);
    expect(result.text).toContain('- search_knowledge_base: No results for "zorgulator schema".');
    expect(result.text).toContain('5 passages for "validate with zod".');
    expect(result.text).toMatch(/Closest matches: zod README/);
    expect(result.text).toContain('Missing: no document contains "zorgulator".');
    const traced = facts.flatMap(trace.create());
    expect(traced.slice(traced.findIndex(({ event }) => event === "error"))).toEqual([
      { event: "error", data: { name: "MaxTurnsExceeded", message: expect.any(String) } },
      {
        event: "tool_call_start",
        data: {
          toolName: "fall_back",
          args: expect.objectContaining({ query: "Can zod validate a zorgulator?" }),
        },
      },
      { event: "tool_call_end", data: { toolName: "fall_back", status: "ok" } },
      { event: "run_end", data: { status: "limit" } },
    ]);
  });

  it("scenario K6: the main model gets the same requests with and without summaries (S3-48, S3-62)", async () => {
    const steps = [createSearch("hono features", 2), { text: "It is small [1]." }];
    const asked = async (policy?: PolicyOverrides) => {
      const options = { timeZone: "UTC", ...(policy && { policy }) };
      const seen = await runQuestion(steps, "What is hono like?", options);
      const emitted = seen.facts.flatMap((fact) => (fact.type === "turn_summary" ? [fact.text] : []));
      return { main: seen.model.requests, summarised: seen.summaryModel.requests.length, told: emitted };
    };
    const [on, off] = [await asked(), await asked({ summaries: false })];
    expect(on.main).toEqual(off.main);
    expect([on.summarised, on.told]).toEqual([2, ["A turn.", "A turn."]]);
    expect([off.summarised, off.told]).toEqual([0, []]);
  });

  it("scenario K7: the first request requires a tool, and a model that answers anyway is called again (S3-05)", async () => {
    const obedient = await runQuestion(
      [createSearch("hono", 1), { text: "A framework [1]." }],
      "What is hono?",
    );
    expect(obedient.model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["required", "auto"]);
    const stubborn = await runQuestion([{ text: "I know." }, { text: "I do know." }], "What is hono?");
    expect(stubborn.model.requests[1]?.instructions).toMatch(/call a tool first/);
    expect(filterEvents(stubborn.facts, "warning")).toMatchObject([{ code: "tool_first_ignored" }]);
    expect(stubborn.result).toMatchObject({ text: "I do know.", grounded: false });
  });

  it("scenario K7: arithmetic and small talk are answered in one turn, without a search, and are not called ungrounded (S3-37, D-21)", async () => {
    for (const [question, answer] of [
      ["What's 2+2?", "The answer is 4."],
      ["Thank you!", "You are welcome."],
    ] as const) {
      const { model, facts, result } = await runQuestion([{ text: answer }], question);
      expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto"]);
      expect(filterEvents(facts, "warning")).toEqual([]);
      expect(result).toMatchObject({ text: answer, turns: 1, toolCalls: [], grounded: true });
    }
  });

  it("scenario K7: without a key, arithmetic is answered in one turn too (S3-37)", async () => {
    const [agent] = await knowledge({ model: offline(), library });
    expect(await run(agent, "What's 2+2?")).toMatchObject({
      ...{ status: "done", text: "2+2 = 4", turns: 1, toolCalls: [], citations: [], grounded: true },
    });
  });

  it.each([
    ["the cited passage supports it", "Hono runs on any JavaScript runtime [1].", true],
    ["it cites nothing", "Hono runs on any JavaScript runtime.", false],
    ["the cited passage is about something else", "The budget meeting moved to Friday afternoon [1].", false],
    [
      "it has a number that the passage does not have",
      "Hono runs on any of 4711 JavaScript runtimes [1].",
      false,
    ],
  ])("scenario K2: an answer after a search, when %s, is grounded: %s %s (S3-06)", async (_case, text, grounded) => {
    const { result } = await runQuestion([createSearch("hono features", 1), { text }], "What is hono like?");
    expect(result).toMatchObject({ status: "done", grounded });
  });

  it.each([
    ["Pacific/Auckland", /^It is Thursday,? 1 January 2026 at 13:00 \(Pacific\/Auckland\)\.$/],
    ["America/Los_Angeles", /^It is Wednesday,? 31 December 2025 at 16:00 \(America\/Los_Angeles\)\.$/],
  ])("scenario K8: the date follows the client's time zone, in %s (S3-03, S3-64)", async (timeZone, first) => {
    const { model } = await runQuestion([createSearch("hono", 1), { text: "Today." }], "What day is it?", {
      timeZone,
    });
    for (const { instructions } of model.requests) expect(instructions.split("\n")[0]).toMatch(first);
  });

  it("scenario K9: an agent called as a tool counts its own turns, and its events are nested (S3-34, S3-58)", async () => {
    const { facts, result, model } = await runQuestion(
      [
        { calls: [{ id: "ask", name: "ask_agent", input: { prompt: "What is hono?" } }] },
        createSearch("hono features", 1),
        { text: "A small web framework [1]." },
        { text: "Hono is a small web framework [1]." },
      ],
      "Have somebody look up hono.",
    );
    const outer = facts.filter(({ parentRunId }) => parentRunId === undefined);
    const inner = facts.filter(({ parentRunId }) => parentRunId !== undefined);
    expect(filterEvents(outer, "turn_start").map(({ turn, agent }) => [turn, agent])).toEqual([
      [1, "knowledge"],
      [2, "knowledge"],
    ]);
    expect(filterEvents(inner, "turn_start").map(({ turn, agent }) => [turn, agent])).toEqual([
      [1, "research-agent"],
      [2, "research-agent"],
    ]);
    const [callId] = outer.flatMap((fact) => (fact.type === "tool_call_start" ? [fact.id] : []));
    expect(new Set(inner.map(({ parentRunId, parentCallId }) => [parentRunId, parentCallId].join()))).toEqual(
      new Set([[outer[0]?.runId, callId].join()]),
    );
    expect(model.requests[1]?.history).toEqual([{ type: "user", content: "What is hono?" }]);
    expect(result).toMatchObject({
      text: "Hono is a small web framework [1].",
      turns: 2,
      citations: [{ n: 1, id: "hono#features" }],
    });
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MapProps } from "@capstan/studio";
import { defineAgent, defineTool, type ResultEntry, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect, type Script, scriptedModel } from "capstan/testing";
import { afterAll, describe, expect, it } from "vitest";
import { airport, policy } from "./agent.ts";
import { fileBookmarks } from "./bookmarks.ts";
import { loadVenue } from "./load-venue.ts";
import { toMessages } from "./messages.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-airport-"));
afterAll(() => rmSync(folder, { recursive: true }));

const venue = await loadVenue();
const getPoiId = (name: string): number =>
  venue.places.find(({ aliases }) => aliases.includes(name))?.poiId ?? 0;
const createSearch = (term: string, more: object = {}) => ({ name: "search", input: { term, ...more } });

async function startConversation(script: Script) {
  const model = scriptedModel(script);
  const agent = await airport({ model, bookmarks: fileBookmarks(folder), clock: { now: () => 0 } });
  const options = { store: memory(), session: "ses_1" };
  return { model, send: (text: string) => collect(run(agent, text, options)) };
}

const getResults = (history: readonly { readonly type: string }[]): readonly ResultEntry[] =>
  history.filter((entry): entry is ResultEntry => entry.type === "result");
const getMap = ({ ui }: ResultEntry): MapProps => {
  expect(ui?.kind).toBe("map");
  return ui?.props as unknown as MapProps;
};

describe("airport scenario 1: the nearest bathroom near Gate 15", () => {
  it("two gates match, so the agent asks and offers both; then six messages lead to the place (S0-16, S0-17, S0-33, S0-34, S0-35, S0-50)", async () => {
    const { model, send: say } = await startConversation([
      { calls: [createSearch("Gate 15")] },
      { text: "Which one do you mean: A15 or D15?" },
      { calls: [createSearch("bathroom", { near: { poiId: getPoiId("D15") } })] },
      { calls: [{ name: "showPOI", input: { poiId: getPoiId("Restroom Concourse D North") } }] },
      { text: "The nearest is Restroom Concourse D North, 83 metres away." },
    ]);

    const asked = await say("Where's the nearest bathroom near Gate 15?");
    const [both] = getResults(asked.result.history);
    expect(both?.data).toMatchObject({
      places: [{ name: "Gate A15" }, { name: "Gate D15" }],
      question: "Which one do you mean: A15 or D15?",
    });
    expect(both && getMap(both).replies).toEqual(["A15", "D15"]);

    const { result } = await say("D15");
    const messages = toMessages(result.history).slice(-6);
    expect(messages.map(({ role, type }) => `${role}/${type}`)).toEqual([
      "user/user_input",
      "assistant/tool_calls",
      "user/tool_results",
      "assistant/tool_calls",
      "user/tool_results",
      "assistant/assistant_response",
    ]);
    expect(messages[1]?.content).toEqual([
      { name: "search", args: { term: "bathroom", near: { poiId: getPoiId("D15") } } },
    ]);
    expect(messages[2]?.content).toMatchObject([
      {
        name: "search",
        result: {
          places: [{ name: "Restroom Concourse D North", distance: 83 }, {}, {}, {}, {}, {}, {}, {}, {}, {}],
        },
      },
    ]);
    const shown = getResults(result.history).at(-1);
    expect(shown && getMap(shown)).toMatchObject({
      title: "Harbor International (fictional)",
      pins: [{ label: "Restroom Concourse D North", level: "1" }],
    });
    // Each request has the whole history so far, the tools and the instructions.
    expect(model.requests.map(({ history }) => history.length)).toEqual([1, 3, 5, 7, 9]);
    for (const { tools, instructions } of model.requests) {
      expect(tools).toHaveLength(11);
      expect(instructions).toContain("You are the assistant of Harbor International (fictional).");
    }
  });
});

describe("airport scenario 2: directions from the Terminal 2 checkpoint to D15", () => {
  it("both ends are searched in parallel, then the route is drawn and described in steps with minutes (S0-12, S0-36, S0-50)", async () => {
    const waypoints = [getPoiId("Terminal 2 Checkpoint"), getPoiId("D15")];
    const { send: say } = await startConversation([
      { calls: [createSearch("Terminal 2 checkpoint"), createSearch("D15")] },
      { calls: [{ name: "showDirections", input: { waypoints } }] },
      { text: "It is 561 metres, about 7 minutes." },
    ]);
    const { events, result } = await say("Directions from the Terminal 2 checkpoint to D15");
    expect(result.status).toBe("done");
    const types = events.filter(({ type }) => type.startsWith("tool_call_") && type !== "tool_call_delta");
    expect(types.slice(0, 2).map(({ type }) => type)).toEqual(["tool_call_start", "tool_call_start"]);
    const [from, to, way] = getResults(result.history);
    expect([from, to].map((entry) => entry?.data)).toMatchObject([
      { places: [{ poiId: waypoints[0], name: "Terminal 2 Checkpoint" }] },
      { places: [{ poiId: waypoints[1], name: "Gate D15" }] },
    ]);
    expect(way?.data).toMatchObject({
      from: "Terminal 2 Checkpoint",
      to: "Gate D15",
      distance: 561,
      minutes: 7,
      steps: [
        "1. Go through security; wait time not included (under 1 min).",
        "2. Turn right into Terminal 2 Airside Hall and walk 160 metres (2 min).",
        "3. Walk 100 metres through Terminal 3 Airside Hall (1 min).",
        "4. Turn left into Concourse D and walk 283 metres (4 min).",
        "5. Gate D15 is on your left.",
      ],
    });
    const { route, pins } = way ? getMap(way) : {};
    expect(pins?.map(({ label }) => label)).toEqual(["Terminal 2 Checkpoint", "Gate D15"]);
    expect(route?.points.length).toBeGreaterThan(5);
    expect(route?.steps).toHaveLength(5);
  });
});

describe("airport scenario 3: without stairs, from a gate that has only stairs", () => {
  it("reports that no step-free route is recorded without claiming that none exists, and names a desk (S0-36)", async () => {
    const { send: say } = await startConversation([
      { calls: [createSearch("C80"), createSearch("D15")] },
      {
        calls: [
          {
            name: "showDirections",
            input: { waypoints: [getPoiId("C80"), getPoiId("D15")], accessible: true },
          },
        ],
      },
      { text: "No step-free route is recorded. Please ask at Information Desk Concourse C." },
    ]);
    const { result } = await say("How do I get from C80 to D15 without stairs?");
    const way = getResults(result.history).at(-1);
    expect(way).toMatchObject({
      status: "ok",
      message:
        "No step-free route from Gate C80 to Gate D15 is recorded. There may still be one. " +
        "Please ask at Information Desk Concourse C (Concourse C, Level 2, after security), the nearest information desk.",
      data: { informationDesk: { name: "Information Desk Concourse C" } },
    });
    const { route, pins } = way ? getMap(way) : {};
    expect(route).toBeUndefined();
    expect(pins?.map(({ label }) => label)).toEqual(["Gate C80", "Gate D15", "Information Desk Concourse C"]);
  });
});

describe("airport scenario 4: a model that always searches", () => {
  it("is reminded of the remaining turns in turns 8 and 9, gets no tools in turn 10, and answers the next question (S0-05, S0-08, S0-15, S0-19..22)", async () => {
    const { model, send: say } = await startConversation((_, index) =>
      index < 10 ? { calls: [createSearch(`gate A${index + 1}`)] } : { text: "Terminal 1 has Concourse A." },
    );
    const { result } = await say("Find me something.");
    const left = model.requests.map(
      ({ instructions }) => /you have (\d) turns? left/.exec(instructions)?.[1],
    );
    expect(left).toEqual([...Array(7).fill(undefined), "2", "1", undefined]);
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([...Array(9).fill(11), 0]);
    expect(result.status).toBe("limit");
    expect(result.text).toBe(
      "I'm sorry, I could not find a good answer yet. The limit of 10 turns was reached. " +
        "I tried search, but that did not settle it. Could you tell me a little more about what you are looking for?",
    );

    const next = await say("Where is Concourse A?");
    expect(next.result).toMatchObject({ status: "done", text: "Terminal 1 has Concourse A.", turns: 1 });
    expect(model.requests.at(-1)?.tools).toHaveLength(11);
  });
});

describe("airport scenario 5: calls that fail", () => {
  it("an unknown tool and one that throws produce errors for the model, and the conversation continues (S0-07, S0-37, S0-38)", async () => {
    const { model, send: say } = await startConversation([
      {
        calls: [
          { name: "serch", input: { term: "D15" } },
          { name: "showPOI", input: { poiId: 1 } },
        ],
      },
      { calls: [createSearch("D15")] },
      { text: "Gate D15 is in Concourse D." },
      { text: "You are welcome." },
    ]);
    const { result } = await say("Where is D15?");
    expect(result.toolCalls.map(({ name, status }) => [name, status])).toEqual([
      ["serch", "error"],
      ["showPOI", "error"],
      ["search", "ok"],
    ]);
    expect(toMessages(model.requests[1]?.history ?? []).at(-1)).toMatchObject({
      type: "tool_results",
      content: [
        { name: "serch", result: null, error: expect.stringContaining('Did you mean "search"?') },
        { name: "showPOI", result: null, error: expect.stringContaining("Take ids from a search") },
      ],
    });
    expect((await say("Thanks!")).result.status).toBe("done");
  });

  it("whatever a tool throws, the run continues with the next turn (S0-37)", async () => {
    const broken = defineTool({
      name: "broken",
      description: "Throws a string instead of an error.",
      input: { type: "object" },
      execute() {
        throw "out of order";
      },
    });
    const model = scriptedModel([{ calls: [{ name: "broken" }] }, { text: "That did not work." }]);
    const result = await run(defineAgent({ name: "airport", model, tools: [broken], policy }), "Go.");
    expect(result).toMatchObject({ status: "done", text: "That did not work." });
    expect(toMessages(result.history)[2]).toMatchObject({
      content: [{ name: "broken", result: null, error: expect.stringContaining("Unknown error") }],
    });
  });
});

describe("several steps", () => {
  it("restaurants, then a cuisine, then directions: three independent tools (S0-48)", async () => {
    const { send: say } = await startConversation([
      { calls: [createSearch("restaurant", { buildingId: "Terminal 3" })] },
      { calls: [createSearch("italian restaurant", { near: { poiId: getPoiId("D2") } })] },
      {
        calls: [
          { name: "showDirections", input: { waypoints: [getPoiId("D2"), getPoiId("Trattoria Molo")] } },
        ],
      },
      { text: "Trattoria Molo is 74 metres away." },
    ]);
    const { result } = await say(
      "Find restaurants in Terminal 3, an Italian one, and give me directions from D2.",
    );
    const [all, italian, directions] = getResults(result.history);
    expect(all?.data).toMatchObject({ places: [{ name: "Trattoria Molo" }, { name: "Green Bowl" }] });
    expect(italian?.data).toMatchObject({ places: [{ name: "Trattoria Molo" }, { name: "La Scala Pizza" }] });
    expect(directions?.data).toMatchObject({ from: "Gate D2", to: "Trattoria Molo" });
  });
});

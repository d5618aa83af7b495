import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "capstan";
import { memory } from "capstan/stores/memory";
import { type Script, scriptedModel } from "capstan/testing";
import { afterAll, describe, expect, it } from "vitest";
import { type AirportOptions, about, airport, policy } from "./agent.ts";
import { fileBookmarks } from "./bookmarks.ts";
import { loadVenue } from "./load-venue.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-airport-"));
afterAll(() => rmSync(folder, { recursive: true }));

const venue = await loadVenue();
const idOf = (name: string) => venue.places.find(({ aliases }) => aliases.includes(name))?.poiId ?? 0;

async function asked(script: Script, options: AirportOptions = {}) {
  const model = scriptedModel(script);
  const agent = await airport({
    model,
    bookmarks: fileBookmarks(folder),
    clock: { now: () => 0 },
    ...options,
  });
  const result = await run(agent, "Go.", { store: memory() });
  const results = result.history.filter((entry) => entry.type === "result");
  return { agent, result, results, instructions: model.requests[0]?.instructions ?? "" };
}
const calls = (name: string, input: { [key: string]: number | string | number[] }) => [
  { calls: [{ name, input }] },
  { text: "Done." },
];

describe("the airport assistant", () => {
  it("has the policy of its kind (S0-05, S0-20, S0-21)", () => {
    expect(policy).toEqual({
      maxTurns: 10,
      wrapUpAt: 2,
      finalTurn: "no-tools",
      onLimit: ["clarify"],
      toolExecution: "parallel",
      retry: { maxAttempts: 1 },
      onAllToolsFailed: "continue",
      memory: "session",
      requireToolFirst: false,
    });
  });

  it("is told its role, to be friendly and brief, to act before asking, to give distance and place, and its tools (S0-27)", async () => {
    const { instructions, agent } = await asked([{ text: "Hello." }]);
    expect(instructions).toMatchInlineSnapshot(`
      "You are the assistant of Harbor International (fictional). You help travellers to find places, to get there, and to know the airport.

      - Be friendly and concise.
      - Act before you ask: search first. Ask only when a result says that several places are meant; then ask which one.
      - When you name a place, tell how far it is, in metres, and where it is.
      - When someone asks where something is or for the nearest one, show the first place found with showPOI.
      - Pass on what is simulated or not recorded as just that. Never say that something does not exist because it is not recorded.
      - Never show ids to a person: they are for the tools.

      You have these tools: search, searchNearby, getPOIDetails, showPOI, showDirections, getBuildingsAndLevels, getCategories, getSecurityWaitTimes, bookmark, getBookmarks, clearBookmarks."
    `);
    for (const name of agent.tools.keys()) expect(instructions).toContain(name);
  });

  it("declares what its tools change and read", async () => {
    const { agent } = await asked([{ text: "Hello." }]);
    const declared = [...agent.tools.values()].map(
      ({ name, effects, reads }) => `${name}: ${effects}, ${reads}`,
    );
    expect(declared).toEqual([
      "search: none, public",
      "searchNearby: none, public",
      "getPOIDetails: none, public",
      "showPOI: ui, public",
      "showDirections: ui, public",
      "getBuildingsAndLevels: none, public",
      "getCategories: none, public",
      "getSecurityWaitTimes: none, public",
      "bookmark: state, public",
      "getBookmarks: none, private",
      "clearBookmarks: state, private",
    ]);
  });

  it("says on screen that the airport is fictional, and offers four things to ask", () => {
    expect(about.description).toContain("fictional");
    expect(about.suggestions).toHaveLength(4);
  });

  it("looks up one place by its number (S0-32)", async () => {
    const { results } = await asked(calls("getPOIDetails", { poiId: idOf("Green Bowl") }));
    expect(results[0]?.data).toMatchObject({
      name: "Green Bowl",
      location: "Concourse D, Level 2, after security",
      hours: "Mo-Su 06:00-22:00",
      description: "Vegan, vegetarian, salads, bowls and healthy food.",
    });
  });

  it("lists what is around a place, nearest first, with metres (S0-34)", async () => {
    const { results } = await asked(calls("searchNearby", { poiId: idOf("D15") }));
    const { places } = results[0]?.data as { places: { name: string; distance: number }[] };
    expect(places[0]).toMatchObject({ name: "Lighthouse Coffee", distance: 64 });
    expect(places.map(({ distance }) => distance)).toEqual(
      places.map(({ distance }) => distance).sort((a, b) => a - b),
    );
  });

  it("gives at most ten places, tells how many there are, and fits the model's window of a result", async () => {
    const { results } = await asked(calls("search", { term: "gate" }));
    const { total, places } = results[0]?.data as { total: number; places: unknown[] };
    expect([total, places.length]).toEqual([92, 10]);
    expect(results[0]?.handle).toBeUndefined();
  });

  it.each([
    [{ kind: "gates" }, 'Harbor International (fictional) has 92 places of the kind "gate".'],
    [{ kind: "toilets", within: "concourse b" }, 'Concourse B has 3 places of the kind "restroom".'],
    [{ kind: "boats" }, /^"boats" is no kind of place here. There are: .*gate/],
    [{ kind: "gates", within: "Concourse X" }, /^There is no "Concourse X" here. There are: Terminal 1/],
  ])("counts the places of one kind: %j", async (input, told) => {
    const { results } = await asked(calls("getCategories", input));
    expect(results[0]?.message).toEqual(typeof told === "string" ? told : expect.stringMatching(told));
  });

  it("tells the waiting time of one terminal alone", async () => {
    const { results } = await asked(calls("getSecurityWaitTimes", { buildingId: "Terminal 2" }));
    expect(results[0]?.message).toMatch(
      /^Simulated times: the wait is \d+ minutes? at Terminal 2 Checkpoint\.$/,
    );
    expect(results[0]?.data).toMatchObject({ checkpoints: { length: 1 } });
  });

  it("marks waiting times as simulated, for the model and on the chart", async () => {
    const { results } = await asked(calls("getSecurityWaitTimes", {}));
    expect(results[0]?.message).toMatch(/^Simulated times/);
    expect(results[0]?.ui).toMatchObject({
      kind: "chart",
      props: { title: "Waiting time at security (simulated), Harbor International (fictional)" },
    });
  });
});

describe("a kiosk", () => {
  const kiosk = "Information Desk Concourse C";

  it("knows where it stands, and searches near it", async () => {
    const { instructions, results } = await asked(calls("search", { term: "restroom" }), { kiosk });
    expect(instructions).toContain(`You are a kiosk at ${kiosk} (Concourse C, Level 2, after security)`);
    expect(results[0]?.data).toMatchObject({
      places: { 0: { name: "Restroom Concourse C South", distance: 28 } },
    });
  });

  it("leads the way from where it stands, and marks that on the map", async () => {
    const { results } = await asked(calls("showDirections", { waypoints: [idOf("D15")] }), { kiosk });
    expect(results[0]?.data).toMatchObject({ from: kiosk, to: "Gate D15" });
    expect(results[0]?.ui).toMatchObject({
      props: { pins: [{ label: kiosk, look: "here" }, { label: "Gate D15" }] },
    });
  });

  it.each([
    ["Nowhere Desk", /No place .* is named "Nowhere Desk"/],
    ["Gate 15", /"Gate 15" means several places: Gate .* Gate /],
  ])("cannot stand at %s", async (name, message) => {
    await expect(airport({ model: scriptedModel([]), kiosk: name })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(message),
    });
  });

  it("elsewhere, a way needs two places", async () => {
    const { result } = await asked(calls("showDirections", { waypoints: [idOf("D15")] }));
    expect(result.toolCalls).toMatchObject([{ status: "error" }]);
  });
});

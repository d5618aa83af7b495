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
const getPoiId = (name: string) => venue.places.find(({ aliases }) => aliases.includes(name))?.poiId ?? 0;

async function runAirport(script: Script, options: AirportOptions = {}) {
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
const createScript = (name: string, input: { [key: string]: number | string | number[] }) => [
  { calls: [{ name, input }] },
  { text: "Done." },
];

describe("the airport assistant", () => {
  it("has the policy of a careful assistant (S0-05, S0-20, S0-21)", () => {
    expect(policy).toEqual({
      maxTurns: 10,
      wrapUpAt: 2,
      finalTurn: "no-tools",
      onLimit: ["clarify"],
      toolExecution: "parallel",
      retry: { maxAttempts: 1 },
      onAllToolsFailed: "continue",
      maxToolResultSize: "unlimited",
      textWithCalls: "drop",
      memory: "session",
      requireToolFirst: false,
    });
  });

  it("receives its role, the tone, act before asking, distance and place, and the list of tools (S0-27)", async () => {
    const { instructions, agent } = await runAirport([{ text: "Hello." }]);
    expect(instructions).toMatchInlineSnapshot(`
      "You are the assistant of Harbor International (fictional). You help travelers find places, get there, and learn about the airport.

      - Be friendly and concise.
      - Act before you ask: search first. Ask only when a result matches several places; then ask which one is meant.
      - When you name a place, say where it is and how far away it is, in metres.
      - When the user asks where something is or for the nearest one, show the first result with showPOI.
      - Say when data is simulated or not recorded. Never claim that something does not exist because it is not recorded.
      - Never show ids to the user: they are for the tools only.

      You have these tools: search, searchNearby, getPOIDetails, showPOI, showDirections, getBuildingsAndLevels, getCategories, getSecurityWaitTimes, bookmark, getBookmarks, clearBookmarks."
    `);
    for (const name of agent.tools.keys()) expect(instructions).toContain(name);
  });

  it("declares the effects and reads of its tools", async () => {
    const { agent } = await runAirport([{ text: "Hello." }]);
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

  it("says on screen that the airport is fictional and suggests four questions", () => {
    expect(about.description).toContain("fictional");
    expect(about.suggestions).toHaveLength(4);
  });

  it("looks up a place by its id (S0-32)", async () => {
    const { results } = await runAirport(createScript("getPOIDetails", { poiId: getPoiId("Green Bowl") }));
    expect(results[0]?.data).toMatchObject({
      name: "Green Bowl",
      location: "Concourse D, Level 2, after security",
      hours: "Mo-Su 06:00-22:00",
      description: "Vegan, vegetarian, salads, bowls and healthy food.",
    });
  });

  it("lists places around a place, nearest first, with metres (S0-34)", async () => {
    const { results } = await runAirport(createScript("searchNearby", { poiId: getPoiId("D15") }));
    const { places } = results[0]?.data as { places: { name: string; distance: number }[] };
    expect(places[0]).toMatchObject({ name: "Lighthouse Coffee", distance: 64 });
    expect(places.map(({ distance }) => distance)).toEqual(
      places.map(({ distance }) => distance).sort((a, b) => a - b),
    );
  });

  it("lists a better match before a nearer place, with the distance of the first (S0-33, S0-34)", async () => {
    const places = venue.places.map((place) =>
      place.name === "Lighthouse Coffee" ? { ...place, description: "Next to the sushi bar." } : place,
    );
    const script = [
      { calls: [{ name: "search", input: { term: "sushi", near: { poiId: getPoiId("D15") } } }] },
      { text: "Done." },
    ];
    const { results } = await runAirport(script, { venue: { ...venue, places } });
    const found = (results[0]?.data as { places: { name: string; distance: number }[] }).places;
    expect(found.slice(0, 2)).toMatchObject([{ name: "Sakura Sushi" }, { name: "Lighthouse Coffee" }]);
    const [first, second] = found.map(({ distance }) => distance);
    expect(first).toBeGreaterThan(second ?? Number.POSITIVE_INFINITY);
    expect(results[0]?.message).toContain(`The first is Sakura Sushi, ${first} metres`);
  });

  it("returns at most ten places and the total (S0-33)", async () => {
    const { results } = await runAirport(createScript("search", { term: "gate" }));
    const { total, places } = results[0]?.data as { total: number; places: unknown[] };
    expect([total, places.length]).toEqual([92, 10]);
    expect(results[0]?.handle).toBeUndefined();
  });

  it.each([
    [{ kind: "gates" }, 'Harbor International (fictional) has 92 places of the kind "gate".'],
    [{ kind: "toilets", within: "concourse b" }, 'Concourse B has 3 places of the kind "restroom".'],
    [{ kind: "boats" }, /^Unknown kind of place "boats"\. Known kinds: .*gate/],
    [{ kind: "gates", within: "Concourse X" }, /^"Concourse X" not found\. Choose one of: Terminal 1/],
  ])("counts the places of one kind: %j", async (input, expected) => {
    const { results } = await runAirport(createScript("getCategories", input));
    expect(results[0]?.message).toEqual(
      typeof expected === "string" ? expected : expect.stringMatching(expected),
    );
  });

  it("returns the wait time of a single terminal", async () => {
    const { results } = await runAirport(createScript("getSecurityWaitTimes", { buildingId: "Terminal 2" }));
    expect(results[0]?.message).toMatch(
      /^Simulated times: the wait is \d+ minutes? at Terminal 2 Checkpoint\.$/,
    );
    expect(results[0]?.data).toMatchObject({ checkpoints: { length: 1 } });
  });

  it("marks wait times as simulated, for the model and on the chart", async () => {
    const { results } = await runAirport(createScript("getSecurityWaitTimes", {}));
    expect(results[0]?.message).toMatch(/^Simulated times/);
    expect(results[0]?.ui).toMatchObject({
      kind: "chart",
      props: { title: "Security wait times (simulated), Harbor International (fictional)" },
    });
  });
});

describe("a kiosk", () => {
  const kiosk = "Information Desk Concourse C";

  it("knows its location and searches from there", async () => {
    const { instructions, results } = await runAirport(createScript("search", { term: "restroom" }), {
      kiosk,
    });
    expect(instructions).toContain(`You are a kiosk at ${kiosk} (Concourse C, Level 2, after security)`);
    expect(results[0]?.data).toMatchObject({
      places: { 0: { name: "Restroom Concourse C South", distance: 28 } },
    });
  });

  it("starts routes at its location and marks it on the map", async () => {
    const { results } = await runAirport(createScript("showDirections", { waypoints: [getPoiId("D15")] }), {
      kiosk,
    });
    expect(results[0]?.data).toMatchObject({ from: kiosk, to: "Gate D15" });
    expect(results[0]?.ui).toMatchObject({
      props: { pins: [{ label: kiosk, look: "here" }, { label: "Gate D15" }] },
    });
  });

  it.each([
    ["Nowhere Desk", /No place at .* is named "Nowhere Desk"/],
    ["Gate 15", /"Gate 15" matches several places: Gate .* Gate /],
  ])("cannot be located at %s", async (name, message) => {
    await expect(airport({ model: scriptedModel([]), kiosk: name })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(message),
    });
  });

  it("directions need two places without a kiosk", async () => {
    const { result } = await runAirport(createScript("showDirections", { waypoints: [getPoiId("D15")] }));
    expect(result.toolCalls).toMatchObject([{ status: "error" }]);
  });
});

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoadedData } from "@capstan/server";
import { type Agent, run } from "capstan";
import { offline } from "capstan/models/offline";
import { memory } from "capstan/stores/memory";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildZip } from "../import/testing/write-zip.ts";
import { venueLoader } from "./own-data.ts";
import { buildFjordvik, buildMesa } from "./testing/sample-venues.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-own-venue-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Packs a venue as macOS does: in a folder, with the resource forks beside it. */
function writeArchive(name: string, files: ReadonlyMap<string, string>): string {
  const path = join(folder, name);
  const entries = [...files].flatMap(([file, content]) => [
    { path: `Export 3/${file}`, content },
    { path: `__MACOSX/Export 3/._${file}`, content: "\u0000\u0005\u0016\u0007" },
  ]);
  writeFileSync(path, buildZip(entries));
  return path;
}

function writeFolder(name: string, files: ReadonlyMap<string, string>): string {
  const path = join(folder, name);
  mkdirSync(path);
  for (const [file, text] of files) writeFileSync(join(path, file), text);
  return path;
}

function load(location: string, name: string, signal = AbortSignal.timeout(60_000)): Promise<LoadedData> {
  return venueLoader({ model: offline() }).load({
    name,
    title: name,
    locations: [location],
    settings: {},
    folder: join(folder, `data-${name}`),
    signal,
    onProgress() {},
  });
}

const getAgent = ({ agents: [agent] }: LoadedData): Agent => {
  if (!agent) throw new Error("no agent");
  return agent;
};
const ask = (data: LoadedData, text: string) => run(getAgent(data), text, { store: memory(), session: "s" });

describe("a venue that has units only", () => {
  let fjordvik: LoadedData;
  beforeAll(async () => {
    fjordvik = await load(writeArchive("fjordvik.zip", buildFjordvik()), "airport-fjordvik");
  });

  it("is read from a zip archive, with counts and nothing skipped", () => {
    expect(fjordvik.agents.map(({ name }) => name)).toEqual(["airport-fjordvik"]);
    expect(fjordvik.report()).toMatchObject({ counts: { places: 8, levels: 1 }, skipped: [] });
  });

  it("answers where the nearest bathroom near Gate 7 is, without a key (S0-17, S0-34)", async () => {
    const { text, toolCalls } = await ask(fjordvik, "Where's the nearest bathroom near Gate 7?");
    expect(text).toMatch(/Accessible all-gender restroom near Gate 7.*19 metres/);
    expect(toolCalls.map(({ name }) => name)).toEqual(["search", "search", "showPOI"]);
  });

  it("understands whom a restroom is for", async () => {
    const { text } = await ask(fjordvik, "Find the women's restroom");
    expect(text).toContain("Women's restroom near Kaffebaren");
    expect(text).not.toContain("Men's restroom near");
  });

  it("gives directions around the corner of the hall", async () => {
    const { text } = await ask(fjordvik, "Directions from Gate 5 to Gate 7");
    expect(text).toContain("84 metres");
    expect(text).toContain("Take the steps");
  });

  it("leaves steps out of a step-free route (S0-36)", async () => {
    const { text } = await ask(fjordvik, "step-free route from Gate 5 to Gate 7");
    expect(text).toContain("85 metres");
    expect(text).not.toContain("steps (");
  });
});

describe("two venues side by side", () => {
  it("are two agents, each with its own places, words and bookmarks", async () => {
    const fjordvik = await load(writeArchive("one.zip", buildFjordvik()), "airport-one");
    const mesa = await load(writeFolder("mesa", buildMesa()), "airport-mesa");
    expect(mesa.report().counts).toMatchObject({ places: 21, levels: 2, buildings: 1 });
    expect(mesa.profile).toMatchObject({
      title: "airport-mesa",
      description: "Finds places at Mesa Regional Airport, shows them on a map and gives directions.",
      suggestions: expect.arrayContaining(["Where is the nearest restroom near Gate 5?"]),
    });
    const store = memory();
    const say = async (data: LoadedData, text: string) => {
      const session = getAgent(data).name;
      return (await run(getAgent(data), text, { store, session })).text;
    };
    expect(await say(mesa, "Where's the nearest bathroom near Gate 7?")).toMatch(
      /Men's restroom near Mesa News.*22 metres/,
    );
    expect(await say(mesa, "bookmark Juniper Coffee")).toContain("Juniper Coffee is bookmarked");
    expect(await say(mesa, "what are my bookmarks")).toContain("Juniper Coffee");
    expect(await say(fjordvik, "what are my bookmarks")).toContain("no bookmarks");
    expect(await say(fjordvik, "Find coffee")).not.toContain("Juniper");
    expect(await say(mesa, "Find tacos")).toContain("Red Rock Tacos");
  });
});

describe("an archive that cannot be used", () => {
  it.each([
    ["not-a-zip.zip", "PK?", "file_invalid", /not a readable ZIP/],
    ["empty.zip", buildZip([{ path: "notes.txt", content: "x" }]), "file_invalid", /No IMDF venue found/],
    [
      "bomb.zip",
      buildZip([{ path: "unit.geojson", content: Buffer.alloc(60_000_000) }]),
      "file_limit",
      /unpacks to more than/,
    ],
    [
      "escape.zip",
      buildZip([{ path: "../../venue.geojson", content: "{}" }]),
      "file_invalid",
      /not a readable ZIP|leaves/,
    ],
    [
      "broken.zip",
      buildZip([...buildFjordvik()].map(([path, text]) => ({ path, content: text.slice(0, -9) }))),
      "file_invalid",
      /missing or empty level\.geojson, unit\.geojson\./,
    ],
  ])("%s is rejected with its reason", async (name, content, code, message) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    await expect(load(path, "airport-x")).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it("may have links, pipes and archives inside, which are not read", async () => {
    const path = writeFolder("odd", buildMesa());
    symlinkSync(path, join(path, "circle"));
    symlinkSync(join(path, "unit.geojson"), join(path, "kiosk.geojson"));
    execFileSync("mkfifo", [join(path, "fixture.geojson")]);
    const { report } = await load(path, "airport-odd");
    expect(report().counts).toMatchObject({ places: 21 });
    expect(report().skipped).toEqual(
      ["fixture.geojson", "kiosk.geojson"].map((item) => ({
        item,
        reason: "It is a link or not a regular file.",
      })),
    );
    const inner = buildZip([{ path: "unit.geojson", content: Buffer.alloc(60_000_000) }]);
    const entries = [...buildMesa()].map(([file, content]) => ({ path: file, content }));
    const outer = join(folder, "nested.zip");
    writeFileSync(outer, buildZip([...entries, { path: "more/inner.zip", content: inner }]));
    expect((await load(outer, "airport-nested")).report().counts).toMatchObject({ places: 21 });
  });

  it("is limited in all, not only per file", async () => {
    const path = join(folder, "large");
    for (const name of ["a", "b", "c"]) {
      mkdirSync(join(path, name), { recursive: true });
      writeFileSync(join(path, name, "unit.geojson"), "");
      truncateSync(join(path, name, "unit.geojson"), 40_000_000);
    }
    await expect(load(path, "airport-large")).rejects.toMatchObject({
      code: "file_limit",
      message: expect.stringMatching(/^With ".*c\/unit\.geojson", the files exceed 100 MB\.$/),
    });
  });

  it("is not read at all after the user has cancelled", async () => {
    const signal = AbortSignal.abort();
    await expect(load(writeArchive("late.zip", buildMesa()), "airport-x", signal)).rejects.toBe(
      signal.reason,
    );
  });
});

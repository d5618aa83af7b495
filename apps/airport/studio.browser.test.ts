import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openOwnData } from "@capstan/server";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import type { Locator, Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { createWireClients, type WireStep } from "../../packages/capstan/src/testing/wire-clients.ts";
import { setupStudio, takePicture } from "../../packages/studio/src/testing/browser.ts";
import {
  getCards,
  getTranscript,
  sendAndWait,
  waitForMessage,
  waitUntilIdle,
} from "../../packages/studio/src/testing/conversation-page.ts";
import { waitMs } from "../../packages/studio/src/testing/launch-browser.ts";
import { offlineWithOverrides } from "../../packages/studio/src/testing/offline-with-overrides.ts";
import { addAndOpen, dropPaths } from "../../packages/studio/src/testing/own-data-page.ts";
import { buildZip } from "../import/testing/write-zip.ts";
import { about, airport } from "./agent.ts";
import type { Bookmarks } from "./bookmarks.ts";
import { loadVenue } from "./load-venue.ts";
import { venueLoader } from "./own-data.ts";
import { buildFjordvik } from "./testing/sample-venues.ts";

const pollOptions = { timeout: waitMs };

const { places } = await loadVenue();
const getPoiId = (name: string): number => places.find(({ aliases }) => aliases.includes(name))?.poiId ?? 0;
const createSearch = (term: string) => ({ name: "search", input: { term } });

const directions: readonly WireStep[] = [
  { calls: [createSearch("Terminal 2 checkpoint"), createSearch("D15")] },
  {
    calls: [
      { name: "showDirections", input: { waypoints: [getPoiId("Terminal 2 Checkpoint"), getPoiId("D15")] } },
    ],
  },
  { text: "It is 561 metres, about 7 minutes." },
];
const buildSentence = (wire: string): string => `Directions to D15, over ${wire}`;
const clients = Object.entries(createWireClients(directions));

const model = offlineWithOverrides({
  ...Object.fromEntries(clients.map(([wire, client]) => [buildSentence(wire), client])),
  "Find me something": scriptedModel((_, index) => ({ calls: [createSearch(`gate A${index + 1}`)] })),
  "Where is D15, roughly?": scriptedModel([
    { calls: [{ name: "serch", input: { term: "D15" } }, createSearch("D15")] },
    { text: "Gate D15 is in Concourse D." },
  ]),
});

/** The tools that read or write these bookmarks throw. */
const failingBookmarks: Bookmarks = {
  list: () => Promise.reject(new Error("The bookmarks are locked.")),
  update: () => Promise.reject(new Error("The bookmarks are locked.")),
};
const agent = await airport({
  model,
  bookmarks: failingBookmarks,
  clock: { now: () => Date.UTC(2026, 0, 15, 8) },
});
const folder = mkdtempSync(join(tmpdir(), "capstan-own-venue-"));
const store = memory();
const data = openOwnData({
  ...{ store, folder: join(folder, "data") },
  loaders: { airport: venueLoader({ model }) },
});
afterAll(async () => {
  await data.close();
  rmSync(folder, { recursive: true });
});
const studio = setupStudio(() => ({ agents: [agent], about: { airport: about }, store, data }));

const getView = (page: Page): Locator => page.getByRole("region", { name: "View" });
const getMap = (place: Locator): Locator =>
  place.getByRole("figure", { name: "Harbor International (fictional)" });
/** Labels of the visible pins. */
const getPins = (map: Locator): Locator => map.locator("svg text[data-strong]");
const getRoutes = (map: Locator): Locator => map.locator("svg polyline.stroke-accent");
const getReplies = (page: Page): Locator => page.getByRole("group", { name: "Replies" }).getByRole("button");
const getLastAnswer = (page: Page): Locator =>
  page.getByRole("article", { name: "Message from airport" }).last();
const getStage = (page: Page): Locator => page.locator("[data-stage]");
/** Tool names of each turn with calls. */
const readTurns = (page: Page): Promise<string[][]> =>
  getTranscript(page)
    .locator("div:has(> [data-call])")
    .evaluateAll((frames) =>
      frames.map((frame) =>
        [...frame.querySelectorAll("[data-call] > button > span:first-of-type")].map(
          (name) => name.textContent ?? "",
        ),
      ),
    );

describe("airport scenario 1: the nearest bathroom near Gate 15", () => {
  test("two gates are offered as buttons and pins; one click shows the place on the map with its distance (S0-17, S0-34, S0-35, S0-50)", async () => {
    const page = await studio.open("/");
    await page.getByRole("button", { name: "Where's the nearest bathroom near Gate 15?" }).click();
    await getLastAnswer(page)
      .getByText(/which one do you mean.*Gate A15.*Gate D15.*\?/i)
      .waitFor();
    const map = getMap(getView(page));
    await expect.poll(() => getPins(map).allTextContents(), pollOptions).toEqual(["Gate A15", "Gate D15"]);
    await expect.poll(() => getReplies(page).allInnerTexts(), pollOptions).toEqual(["A15", "D15"]);
    await takePicture(page, "visible-airport-1");

    await getReplies(page).getByText("D15").click();
    await waitForMessage(page, "D15");
    await getLastAnswer(page)
      .getByText(/Restroom Concourse D North.*83 metres/)
      .waitFor();
    await waitUntilIdle(page);
    await expect
      .poll(() => getPins(map).allTextContents(), pollOptions)
      .toEqual(["Restroom Concourse D North"]);
    await expect.poll(() => getReplies(page).count(), pollOptions).toBe(0);
    await expect.poll(() => readTurns(page), pollOptions).toEqual([["search"], ["search"], ["showPOI"]]);
    await expect.poll(() => getCards(page, "ok").count(), pollOptions).toBe(3);
    // Ids are for the tools only.
    await expect.poll(() => getTranscript(page).innerText()).not.toMatch(/\b5\d{3}\b|poiId/);
    await takePicture(page, "visible-airport-2");
  });

  test("at phone width the map is part of the conversation", async () => {
    const page = await studio.open("/", { size: "phone" });
    await sendAndWait(page, "Where's the nearest bathroom near Gate 15?");
    await getMap(getTranscript(page)).waitFor();
    await getReplies(page).getByText("D15").tap();
    await getLastAnswer(page)
      .getByText(/Restroom Concourse D North.*83 metres/)
      .waitFor();
    await expect
      .poll(() => getPins(getMap(getTranscript(page)).last()).allTextContents(), pollOptions)
      .toEqual(["Restroom Concourse D North"]);
    await takePicture(page, "visible-airport-3");
  });
});

describe("airport scenarios 2 and 3: directions to D15", () => {
  test("both ends are searched in parallel; the route is drawn and described in numbered steps with minutes (S0-12, S0-36, S0-50)", async () => {
    const page = await studio.open("/");
    await sendAndWait(page, "Directions from the Terminal 2 checkpoint to D15");
    await getLastAnswer(page).getByText("561 metres, about 7 minutes").waitFor();
    const steps = await getLastAnswer(page).getByRole("listitem").allInnerTexts();
    expect(steps).toHaveLength(5);
    for (const step of steps.slice(0, -1)) expect(step).toMatch(/\(.*min\)\.$/);
    expect(steps.at(-1)).toBe("Gate D15 is on your left.");
    await expect.poll(() => readTurns(page), pollOptions).toEqual([["search", "search"], ["showDirections"]]);
    const map = getMap(getView(page));
    await getRoutes(map).waitFor();
    await expect
      .poll(() => getPins(map).allTextContents(), pollOptions)
      .toEqual(["Terminal 2 Checkpoint", "Gate D15"]);
    await expect
      .poll(() => map.getByRole("list").last().getByRole("listitem").allInnerTexts(), pollOptions)
      .toEqual(steps);
    await takePicture(page, "visible-airport-4");
  });

  test("without stairs from a gate that has only stairs: the answer claims no more than that nothing is recorded, and names and shows a desk (S0-36)", async () => {
    const page = await studio.open("/");
    await sendAndWait(page, "How do I get from C80 to D15 without stairs?");
    const answerText = await getLastAnswer(page).innerText();
    expect(answerText).toMatch(/no step-free route .* is recorded/i);
    expect(answerText).toContain("Information Desk Concourse C");
    expect(answerText).not.toMatch(/there is no (?:step-free )?(?:way|route)|impossible|does not exist/i);
    const map = getMap(getView(page));
    await map.getByRole("button", { name: "Level 1", pressed: true }).waitFor();
    await takePicture(page, "visible-airport-5");
    await map.getByRole("button", { name: "Information Desk Concourse C" }).click();
    await map.getByRole("button", { name: "Level 2", pressed: true }).waitFor();
    await expect
      .poll(() => getPins(map).allTextContents(), pollOptions)
      .toContain("Information Desk Concourse C");
    await map.getByRole("button", { name: "Level 1" }).click();
    await expect.poll(() => getPins(map).allTextContents(), pollOptions).toEqual(["Gate C80"]);
    await expect.poll(() => getRoutes(map).count(), pollOptions).toBe(0);
  });
});

describe("airport scenarios 4 and 5: failures", () => {
  test("a model that keeps searching is stopped with a question, and the next question is answered (S0-08, S0-15)", async () => {
    const page = await studio.open("/");
    await sendAndWait(page, "Find me something");
    await getStage(page).getByText("Limit reached").waitFor();
    await getLastAnswer(page)
      .getByText(/The limit of 10 turns was reached\..*Could you tell me a little more/)
      .waitFor();
    // The tenth turn has no tools: calls made there are skipped.
    await expect
      .poll(
        async () => [await getCards(page, "ok").count(), await getCards(page, "skipped").count()],
        pollOptions,
      )
      .toEqual([9, 1]);
    await getTranscript(page).getByText("The limit of 10 turns was reached.", { exact: true }).waitFor();
    await takePicture(page, "visible-airport-6");
    await sendAndWait(page, "Where is gate B32?");
    await getLastAnswer(page)
      .getByText(/Gate B32.*Concourse B/)
      .first()
      .waitFor();
    await getStage(page).getByText("Done").waitFor();
  });

  test("an unknown tool and one that throws show failed cards, and the conversation continues (S0-07, S0-37)", async () => {
    const page = await studio.open("/");
    await sendAndWait(page, "Where is D15, roughly?");
    await getLastAnswer(page).getByText("Gate D15 is in Concourse D.").waitFor();
    await getCards(page, "error")
      .getByRole("button", { name: /^serch.*Failed$/ })
      .click();
    await getTranscript(page).getByText('Did you mean "search"?').first().waitFor();
    await expect.poll(() => getCards(page, "ok").count(), pollOptions).toBe(1);
    await sendAndWait(page, "What are my bookmarks?");
    await getCards(page, "error")
      .getByRole("button", { name: /^getBookmarks.*Failed$/ })
      .waitFor();
    await getLastAnswer(page)
      .getByText(/The bookmarks are locked/)
      .waitFor();
    await takePicture(page, "visible-airport-7");
    await sendAndWait(page, "Thanks!");
    await getLastAnswer(page)
      .getByText(/welcome/i)
      .waitFor();
  });
});

test("airport scenario 6: five wires show the same (S0-43, S0-45)", async () => {
  const page = await studio.open("/");
  for (const [index, [wire]] of clients.entries()) {
    await sendAndWait(page, buildSentence(wire));
    await expect
      .poll(() => getTranscript(page).getByText("It is 561 metres, about 7 minutes.").count(), pollOptions)
      .toBe(index + 1);
    await getRoutes(getMap(getView(page))).waitFor();
  }
  await expect
    .poll(() => readTurns(page), pollOptions)
    .toEqual(clients.flatMap(() => [["search", "search"], ["showDirections"]]));
  await expect.poll(() => getCards(page).count()).toBe(await getCards(page, "ok").count());
  await takePicture(page, "visible-airport-8");
});

test("own venues: a dropped IMDF archive becomes a map, and directions on it are drawn and described in numbered steps (S0-36)", async () => {
  const archive = join(folder, "fjordvik.zip");
  writeFileSync(archive, buildZip([...buildFjordvik()].map(([path, content]) => ({ path, content }))));
  const page = await studio.open("/");
  const card = page.getByRole("button", { name: /^Airport assistant/ });
  await card.waitFor();
  await dropPaths(card, [archive]);
  await addAndOpen(page, "fjordvik", "8 places");
  await sendAndWait(page, "Directions from Gate 5 to Gate 7");
  const answer = page.getByRole("article", { name: "Message from airport-fjordvik" }).last();
  await answer.getByText("84 metres").waitFor();
  const told = await answer.getByRole("listitem").allInnerTexts();
  const map = getView(page).getByRole("figure", { name: "Fjordvik Airport" });
  await getRoutes(map).waitFor();
  await expect.poll(() => getPins(map).allTextContents(), pollOptions).toEqual(["Gate 5", "Gate 7"]);
  const numbered = map.getByRole("list").last();
  const steps = await numbered.getByRole("listitem").allInnerTexts();
  expect(steps).toHaveLength(7);
  expect(steps[3]).toContain("Take the steps");
  expect(steps.at(-1)).toBe("Gate 7 is on your right.");
  // The answer has the same steps; a note on the accuracy follows the last one.
  expect(told.map((text, index) => text.slice(0, steps[index]?.length))).toEqual(steps);
  expect(await numbered.evaluate((list) => getComputedStyle(list).listStyleType)).toBe("decimal");
  await takePicture(page, "airport-own");
});

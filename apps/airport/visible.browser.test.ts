import { scriptedModel } from "capstan/testing";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { type WireStep, wireClients } from "../../packages/capstan/src/testing/wire-clients.ts";
import { picture, studioFor } from "../../packages/studio/src/testing/browser.ts";
import { ask, cards, heard, rest, transcript } from "../../packages/studio/src/testing/conversation-page.ts";
import { offlineExcept } from "../../packages/studio/src/testing/offline-except.ts";
import { about, airport } from "./agent.ts";
import type { Bookmarks } from "./bookmarks.ts";
import { loadVenue } from "./load-venue.ts";

const patience = { timeout: 30_000 };

const { places } = await loadVenue();
const idOf = (name: string): number => places.find(({ aliases }) => aliases.includes(name))?.poiId ?? 0;
const searched = (term: string) => ({ name: "search", input: { term } });

const directions: readonly WireStep[] = [
  { calls: [searched("Terminal 2 checkpoint"), searched("D15")] },
  { calls: [{ name: "showDirections", input: { waypoints: [idOf("Terminal 2 Checkpoint"), idOf("D15")] } }] },
  { text: "It is 561 metres, about 7 minutes." },
];
const sentenceFor = (wire: string): string => `Directions to D15, over ${wire}`;
const clients = Object.entries(wireClients(directions));

const model = offlineExcept({
  ...Object.fromEntries(clients.map(([wire, client]) => [sentenceFor(wire), client])),
  "Find me something": scriptedModel((_, index) => ({ calls: [searched(`gate A${index + 1}`)] })),
  "Where is D15, roughly?": scriptedModel([
    { calls: [{ name: "serch", input: { term: "D15" } }, searched("D15")] },
    { text: "Gate D15 is in Concourse D." },
  ]),
});

/** A shelf that cannot be reached: the tool that reads it throws. */
const locked: Bookmarks = {
  list: () => Promise.reject(new Error("The shelf is locked.")),
  change: () => Promise.reject(new Error("The shelf is locked.")),
};
const agent = await airport({ model, bookmarks: locked, clock: { now: () => Date.UTC(2026, 0, 15, 8) } });
const studio = studioFor(() => ({ agents: [agent], about: { airport: about } }));

const view = (page: Page): Locator => page.getByRole("region", { name: "View" });
const mapOf = (place: Locator): Locator =>
  place.getByRole("figure", { name: "Harbor International (fictional)" });
/** The names at the pins that are drawn. */
const pins = (map: Locator): Locator => map.locator("svg text[data-strong]");
const routes = (map: Locator): Locator => map.locator("svg polyline.stroke-accent");
const replies = (page: Page): Locator => page.getByRole("group", { name: "Replies" }).getByRole("button");
const answer = (page: Page): Locator => page.getByRole("article", { name: "airport says" }).last();
const stage = (page: Page): Locator => page.locator("[data-stage]");
/** The names of the tools in each turn that called some. */
const turns = (page: Page): Promise<string[][]> =>
  transcript(page)
    .locator("div:has(> [data-call])")
    .evaluateAll((frames) =>
      frames.map((frame) =>
        [...frame.querySelectorAll("[data-call] > button > span:first-of-type")].map(
          (name) => name.textContent ?? "",
        ),
      ),
    );

describe("airport scenario 1: the nearest bathroom near Gate 15", () => {
  test("two gates are offered as buttons and pins; one click later the place is on the map, with its metres (S0-17, S0-34, S0-35, S0-50)", async () => {
    const page = await studio.open("/");
    await page.getByRole("button", { name: "Where's the nearest bathroom near Gate 15?" }).click();
    await answer(page)
      .getByText(/which one do you mean.*Gate A15.*Gate D15.*\?/i)
      .waitFor();
    const map = mapOf(view(page));
    await expect.poll(() => pins(map).allTextContents(), patience).toEqual(["Gate A15", "Gate D15"]);
    await expect.poll(() => replies(page).allInnerTexts(), patience).toEqual(["A15", "D15"]);
    await picture(page, "visible-airport-1");

    await replies(page).getByText("D15").click();
    await heard(page, "D15");
    await answer(page)
      .getByText(/Restroom Concourse D North.*83 metres/)
      .waitFor();
    await rest(page);
    await expect.poll(() => pins(map).allTextContents(), patience).toEqual(["Restroom Concourse D North"]);
    await expect.poll(() => replies(page).count(), patience).toBe(0);
    await expect.poll(() => turns(page), patience).toEqual([["search"], ["search"], ["showPOI"]]);
    await expect.poll(() => cards(page, "ok").count(), patience).toBe(3);
    // Ids are for the tools alone.
    expect(await transcript(page).innerText()).not.toMatch(/\b5\d{3}\b|poiId/);
    await picture(page, "visible-airport-2");
  });

  test("at the width of a phone the map stands in the conversation", async () => {
    const page = await studio.open("/", { size: "phone" });
    await ask(page, "Where's the nearest bathroom near Gate 15?");
    await mapOf(transcript(page)).waitFor();
    await replies(page).getByText("D15").tap();
    await answer(page)
      .getByText(/Restroom Concourse D North.*83 metres/)
      .waitFor();
    await expect
      .poll(() => pins(mapOf(transcript(page)).last()).allTextContents(), patience)
      .toEqual(["Restroom Concourse D North"]);
    await picture(page, "visible-airport-3");
  });
});

describe("airport scenarios 2 and 3: the way to D15", () => {
  test("both ends are searched at once; the way is drawn and told in numbered steps with minutes (S0-12, S0-36, S0-50)", async () => {
    const page = await studio.open("/");
    await ask(page, "Directions from the Terminal 2 checkpoint to D15");
    await answer(page).getByText("561 metres, about 7 minutes").waitFor();
    const steps = await answer(page).getByRole("listitem").allInnerTexts();
    expect(steps).toHaveLength(5);
    for (const step of steps.slice(0, -1)) expect(step).toMatch(/\(.*min\)\.$/);
    expect(steps.at(-1)).toBe("Gate D15 is on your left.");
    await expect.poll(() => turns(page), patience).toEqual([["search", "search"], ["showDirections"]]);
    const map = mapOf(view(page));
    await routes(map).waitFor();
    await expect
      .poll(() => pins(map).allTextContents(), patience)
      .toEqual(["Terminal 2 Checkpoint", "Gate D15"]);
    await expect
      .poll(() => map.getByRole("list").last().getByRole("listitem").allInnerTexts(), patience)
      .toEqual(steps);
    await picture(page, "visible-airport-4");
  });

  test("without stairs from a gate that has only stairs: nothing is recorded, which is all that is said; a desk is named and shown (S0-36)", async () => {
    const page = await studio.open("/");
    await ask(page, "How do I get from C80 to D15 without stairs?");
    const said = await answer(page).innerText();
    expect(said).toMatch(/no step-free way .* is recorded/i);
    expect(said).toContain("Information Desk Concourse C");
    expect(said).not.toMatch(/there is no (?:step-free )?way|impossible|does not exist/i);
    const map = mapOf(view(page));
    await map.getByRole("button", { name: "Level 1", pressed: true }).waitFor();
    await picture(page, "visible-airport-5");
    await map.getByRole("button", { name: "Information Desk Concourse C" }).click();
    await map.getByRole("button", { name: "Level 2", pressed: true }).waitFor();
    await expect.poll(() => pins(map).allTextContents(), patience).toContain("Information Desk Concourse C");
    await map.getByRole("button", { name: "Level 1" }).click();
    await expect.poll(() => pins(map).allTextContents(), patience).toEqual(["Gate C80"]);
    await expect.poll(() => routes(map).count(), patience).toBe(0);
  });
});

describe("airport scenarios 4 and 5: when it goes wrong", () => {
  test("a model that always searches is stopped with a question, and the next question is answered (S0-08, S0-15)", async () => {
    const page = await studio.open("/");
    await ask(page, "Find me something");
    await stage(page).getByText("Stopped at a limit").waitFor();
    await answer(page)
      .getByText(/Could you tell me a little more/)
      .waitFor();
    // The tenth turn has no tools: what is called there all the same is not run.
    await expect
      .poll(async () => [await cards(page, "ok").count(), await cards(page, "skipped").count()], patience)
      .toEqual([9, 1]);
    await transcript(page).getByText("The limit of 10 turns was reached.").waitFor();
    await picture(page, "visible-airport-6");
    await ask(page, "Where is gate B32?");
    await answer(page)
      .getByText(/Gate B32.*Concourse B/)
      .first()
      .waitFor();
    await stage(page).getByText("Done").waitFor();
  });

  test("an unknown tool and one that throws are failed cards, and the conversation goes on (S0-07, S0-37)", async () => {
    const page = await studio.open("/");
    await ask(page, "Where is D15, roughly?");
    await answer(page).getByText("Gate D15 is in Concourse D.").waitFor();
    await cards(page, "error")
      .getByRole("button", { name: /^serch.*Failed$/ })
      .click();
    await transcript(page).getByText('Did you mean "search"?').first().waitFor();
    await expect.poll(() => cards(page, "ok").count(), patience).toBe(1);
    await ask(page, "What are my bookmarks?");
    await cards(page, "error")
      .getByRole("button", { name: /^getBookmarks.*Failed$/ })
      .waitFor();
    await answer(page)
      .getByText(/The shelf is locked/)
      .waitFor();
    await picture(page, "visible-airport-7");
    await ask(page, "Thanks!");
    await answer(page)
      .getByText(/welcome/i)
      .waitFor();
  });
});

test("airport scenario 6: over five wires the same is seen (S0-43, S0-45)", async () => {
  const page = await studio.open("/");
  for (const [index, [wire]] of clients.entries()) {
    await ask(page, sentenceFor(wire));
    await expect
      .poll(() => transcript(page).getByText("It is 561 metres, about 7 minutes.").count(), patience)
      .toBe(index + 1);
    await routes(mapOf(view(page))).waitFor();
  }
  await expect
    .poll(() => turns(page), patience)
    .toEqual(clients.flatMap(() => [["search", "search"], ["showDirections"]]));
  expect(await cards(page).count()).toBe(await cards(page, "ok").count());
  await picture(page, "visible-airport-8");
});

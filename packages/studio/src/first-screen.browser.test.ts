// The first screen shows what every app does, at once.
import { defineAgent } from "capstan";
import { offline } from "capstan/models/offline";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupStudio, takePicture } from "./testing/browser.ts";

const model = offline();
const suggestions = [
  "Directions from the Terminal 2 checkpoint to gate D15",
  "How late are departures today?",
];
const description = "Finds places at a fictional airport, shows them on a map and gives directions.";
const pictures = ["map", "files", "graph", "sources", undefined] as const;
const studio = setupStudio(() => ({
  agents: pictures.map((_, index) => defineAgent({ name: `app${index}`, model })),
  about: Object.fromEntries(
    pictures.map((picture, index) => [
      `app${index}`,
      { title: `App ${index}`, description, suggestions, ...(picture && { picture }) },
    ]),
  ),
}));

/** The cards of the agents, with the bottom of each and of its first suggestion. */
async function measureCards(page: Page): Promise<readonly { bottom: number; suggestion: number }[]> {
  return page
    .getByRole("region", { name: "Agents" })
    .locator("> div")
    .evaluateAll((cards) =>
      cards.map((card) => ({
        bottom: card.getBoundingClientRect().bottom,
        suggestion: card.querySelector("li button")?.getBoundingClientRect().bottom ?? Infinity,
      })),
    );
}

test("all five apps with their pictures and suggestions are above the fold at 1280 × 720", async () => {
  const page = await studio.open("/");
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.getByRole("button", { name: "App 4" }).waitFor();
  const cards = await measureCards(page);
  expect(cards).toHaveLength(5);
  for (const { bottom } of cards) expect(bottom).toBeLessThanOrEqual(720);
  const drawn = await page
    .locator("main [data-picture]")
    .evaluateAll((all) => all.map((picture) => picture.getAttribute("data-picture")));
  expect(drawn).toEqual(["map", "files", "graph", "sources", "chat"]);
  await takePicture(page, "first-screen");
  // The picture belongs to the card: a click on it chooses the app.
  await page.locator("main [data-picture=graph]").click({ force: true });
  await page.waitForURL("**/?agent=app2");
  await page.getByRole("button", { name: "App 2", pressed: true }).waitFor();
});

test("on a phone the apps are a compact list, each with a suggestion that is large enough to tap", async () => {
  const page = await studio.open("/", { size: "phone", theme: "dark" });
  await page.getByRole("button", { name: "App 4" }).waitFor();
  const cards = await measureCards(page);
  expect(cards.filter(({ bottom }) => bottom <= 844).length).toBeGreaterThanOrEqual(4);
  const buttons = page.getByRole("region", { name: "Agents" }).locator("li button:visible");
  await expect.poll(() => buttons.count()).toBe(5);
  for (const button of await buttons.all())
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  await takePicture(page, "first-screen-phone-dark");
  await page.getByRole("button", { name: "App 1" }).tap();
  await expect.poll(() => buttons.count()).toBe(6);
});

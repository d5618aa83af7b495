import { defineAgent, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { beforeAll, expect, test } from "vitest";
import { setupStudio } from "./testing/browser.ts";
import { getTranscript } from "./testing/conversation-page.ts";

const agent = defineAgent({
  name: "guide",
  model: scriptedModel(({ history }) => {
    const last = history.at(-1);
    return { text: `About ${last?.type === "user" ? last.content : ""}` };
  }),
  policy: { historyLimit: 2 },
});
const store = memory();
const studio = setupStudio(() => ({ agents: [agent], store }));
const runs = 500;
/** All rows together would have more than 10,000. */
const maxElements = 2500;

beforeAll(async () => {
  for (let index = 0; index < runs; index++)
    await run(agent, `question ${index}.`, { store, session: "long", runId: `run_${index}` });
});

test("a long session is loaded from its end, and earlier messages on request", async () => {
  expect((await store.getSession("long"))?.facts).toBeGreaterThan(2000);
  const page = await studio.open("/sessions/long");
  const transcript = getTranscript(page);
  await transcript.getByText(`About question ${runs - 1}.`).waitFor();
  // The newest rows stay for the browser's search; the others are rendered near the window only.
  await transcript.getByText(`About question ${runs - 25}.`).waitFor({ state: "attached" });
  const isBounded = async () => (await page.locator("*").count()) < maxElements;
  expect(await isBounded()).toBe(true);
  const button = page.getByRole("button", { name: "Load earlier messages" });
  let clicks = 0;
  const loadEarlier = async () => {
    await transcript.evaluate((element) => element.scrollTo(0, 0));
    // The button may be replaced at any time, which a click by the mouse would wait for.
    clicks += await button.evaluateAll((buttons: HTMLElement[]) => {
      for (const each of buttons) each.click();
      return buttons.length;
    });
    return transcript.getByText("About question 0.").isVisible();
  };
  await expect.poll(loadEarlier, { timeout: 120_000 }).toBe(true);
  expect(await isBounded()).toBe(true);
  expect(clicks).toBeGreaterThanOrEqual(2);
  await expect.poll(() => button.count()).toBe(0);
});

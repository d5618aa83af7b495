// What hurried hands do: click twice, press the wrong key, go back. Nothing is done twice, and nothing typed is lost.
import { offline } from "capstan/models/offline";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { picture, studioFor } from "./testing/browser.ts";
import { chatAgents, introductions } from "./testing/chat-agents.ts";
import {
  ask,
  choose,
  prompt,
  rest,
  say,
  settle,
  transcript,
  untilHeard,
} from "./testing/conversation-page.ts";
import { viewAgent } from "./testing/view-agent.ts";

const studio = studioFor(() => ({
  agents: [...chatAgents(), viewAgent()],
  about: introductions,
  storedAgents: { tools: [], sources: [], models: [offline()] },
}));

async function count(page: Page, what: "runs" | "sessions"): Promise<number> {
  return page.evaluate(
    async (name) => (await (await fetch(`/api/${name}?most=200`)).json())[name].length,
    what,
  );
}

/** Slow enough for a second click to come before the first is answered. */
async function slowly(page: Page, path: string): Promise<void> {
  await page.route(path, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    await route.continue();
  });
}

describe("a double click begins one run", () => {
  test("of a suggestion on the first screen", async () => {
    const page = await studio.open("/");
    await slowly(page, "**/api/runs");
    const before = await count(page, "sessions");
    await page.getByRole("button", { name: "Look up how to begin", exact: true }).dblclick();
    await page.waitForURL(/\/sessions\//);
    await rest(page);
    await page.waitForTimeout(600);
    expect((await count(page, "sessions")) - before).toBe(1);
  });

  test("of Answer again, and of Ask again after a stop", async () => {
    const page = await studio.open("/");
    await ask(page, "Some words");
    await slowly(page, "**/api/sessions/*/fork");
    const first = await count(page, "sessions");
    await page.getByRole("button", { name: "Answer again" }).dblclick();
    await transcript(page).getByText("2/2").waitFor();
    await rest(page);
    await page.waitForTimeout(600);
    expect((await count(page, "sessions")) - first).toBe(1);
    await say(page, "Count");
    await page.locator("[data-live]").getByText("word12").waitFor();
    await page.keyboard.press("Escape");
    const second = await count(page, "sessions");
    await page.getByRole("button", { name: "Ask again", exact: true }).dblclick();
    await page.locator("[data-live]").getByText("word12").waitFor();
    await page.keyboard.press("Escape");
    await rest(page);
    await page.waitForTimeout(600);
    expect((await count(page, "sessions")) - second).toBe(1);
  });
});

test("a node that is selected stays drawn in another layout and in other colours", async () => {
  const page = await studio.open("/?agent=explorer");
  await ask(page, "Make them #0000ff");
  const panel = page.getByRole("complementary", { name: "Inspector" });
  const drawing = panel.locator("canvas.sigma-nodes");
  await drawing.waitFor({ state: "attached" });
  await panel.getByText("Nodes and edges as a list").click();
  await panel.getByRole("button", { name: "cat1" }).first().click();
  await panel.getByRole("button", { name: "Circle" }).click();
  await ask(page, "Make them #ff0000");
  await panel.getByText("5 nodes, 4 edges, 2 changed").waitFor();
  await picture(page, "graph-selected");
  expect([await drawing.count(), await panel.getByText("could not draw").count()]).toEqual([1, 0]);
});

test("a note against a call is not lost by allowing it", async () => {
  const page = await studio.open("/");
  await say(page, "Save it");
  const card = page.locator("[data-approval]");
  await card.waitFor();
  await settle(page);
  const [allow, always] = ["Allow", "Always in this session"].map((name) =>
    card.getByRole("button", { name, exact: true }),
  );
  await card.getByRole("button", { name: "Add a note why not" }).click();
  await card.getByLabel("Why it is denied").fill("Ask me tomorrow.");
  expect([await allow?.isDisabled(), await always?.isDisabled()]).toEqual([true, true]);
  await card.getByText("Only a denial takes the note along.").waitFor();
  await picture(page, "approval-note");
  await card.getByLabel("Why it is denied").fill("");
  await allow?.click();
  await transcript(page).getByText("The greeting is changed.").waitFor();
});

describe("a session that was deleted", () => {
  async function deleted(page: Page, title: string): Promise<void> {
    const list = page.getByRole("navigation", { name: "Sessions" });
    await list.getByRole("link", { name: title }).hover();
    await list.getByLabel(`More about ${title}`).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await slowly(page, "**/api/sessions/*");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).dblclick();
    await page.waitForURL((url) => url.pathname === "/");
  }
  const gone = (page: Page, words = "This session was deleted") =>
    page.getByRole("main").getByText(words).waitFor();

  test("is gone at once and later, without a place to write; a double click deletes once", async () => {
    const page = await studio.open("/", { expects: [/404/] });
    await ask(page, "Words to forget");
    await deleted(page, "Words to forget");
    await page.goBack();
    await gone(page);
    await picture(page, "deleted");
    expect([await prompt(page).count(), await transcript(page).count()]).toEqual([0, 0]);
    await page.waitForTimeout(600);
    expect(await page.locator("[aria-live] > *").allInnerTexts()).toEqual([]);
    await page.reload();
    await gone(page, "There is no such session");
    expect([await prompt(page).count(), await page.getByText("Nothing was said").count()]).toEqual([0, 0]);
    await page.getByRole("main").getByRole("link", { name: "Start a new chat" }).click();
    await prompt(page).waitFor();
  });
});

test("what was typed about a new agent is not thrown away unasked", async () => {
  const page = await studio.open("/agents");
  const form = page.getByRole("dialog", { name: "New agent" });
  const question = page.getByRole("dialog", { name: "Discard what you have typed?" });
  const pressEscape = () => page.keyboard.press("Escape");
  await page.getByRole("button", { name: "New agent" }).click();
  await form.waitFor();
  await untilHeard(pressEscape, () => form.waitFor({ state: "detached" }));
  await page.getByRole("button", { name: "New agent" }).click();
  await form.getByLabel("Name").fill("harbour-master");
  await page.keyboard.press("Escape");
  await question.waitFor();
  await picture(page, "agent-discard");
  await question.getByRole("button", { name: "Go on writing" }).click();
  await question.waitFor({ state: "detached" });
  await untilHeard(
    () => page.mouse.click(200, 450),
    () => question.waitFor(),
  );
  await untilHeard(pressEscape, () => question.waitFor({ state: "detached" }));
  expect(await form.getByLabel("Name").inputValue()).toBe("harbour-master");
  await form.getByRole("button", { name: "Cancel" }).click();
  await question.getByRole("button", { name: "Discard" }).click();
  await form.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "New agent" }).click();
  expect(await form.getByLabel("Name").inputValue()).toBe("");
});

test("where nothing hovers, the menu of a session is in sight", async () => {
  const page = await studio.open("/", { size: "phone" });
  await ask(page, "Words on a phone");
  await page.getByRole("button", { name: "Show the sessions" }).click();
  const menu = page.getByLabel("More about Words on a phone");
  await menu.waitFor();
  await picture(page, "list-phone");
  const opacity = await menu.evaluate((button) => getComputedStyle(button.parentElement as Element).opacity);
  expect(opacity).toBe("1");
});

test("after a rename the focus is where it was", async () => {
  const page = await studio.open("/");
  await ask(page, "Words with a name");
  const list = page.getByRole("navigation", { name: "Sessions" });
  await list.getByLabel("More about Words with a name").focus();
  await choose(page, "Rename");
  await page.getByLabel("Title").fill("A better name");
  await page.keyboard.press("Enter");
  const menu = list.getByLabel("More about A better name");
  await menu.waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(() => menu.evaluate((button) => button === document.activeElement)).toBe(true);
});

test("who types at once into a dialog that was chosen in a menu loses nothing: it has the focus once and for all", async () => {
  const page = await studio.open("/");
  await ask(page, "Words for hasty hands");
  await page.evaluate(() => {
    document.addEventListener("focusin", ({ target }) => {
      if (target instanceof HTMLInputElement) target.dataset.focused = `${target.dataset.focused ?? ""}x`;
    });
  });
  await page.getByRole("navigation").getByLabel("More about Words for hasty hands").focus();
  await choose(page, "Rename");
  const title = page.getByLabel("Title");
  await page.waitForTimeout(400);
  expect(await title.getAttribute("data-focused")).toBe("x");
});

test("an old list of sessions that comes late does not take the place of a newer one", async () => {
  const page = await studio.open("/sessions");
  const main = page.getByRole("main");
  const release = Promise.withResolvers<void>();
  let lists = 0;
  await page.route("**/api/sessions?*", async (route) => {
    lists += 1;
    const isFirst = lists === 1;
    const response = await route.fetch();
    if (isFirst) await release.promise;
    await route.fulfill({ response });
  });
  const rename = async (from: Locator, to: string) => {
    await from.focus();
    await choose(page, "Rename");
    await page.getByLabel("Title").fill(to);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  const menu = main.getByLabel(/^More about/).first();
  await rename(menu, "The name before");
  await rename(menu, "The name after");
  await main.getByText("The name after").waitFor();
  const late = page.waitForResponse("**/api/sessions?*");
  release.resolve();
  await (await late).finished();
  await page.waitForTimeout(200);
  expect(await main.getByText("The name before").count()).toBe(0);
});

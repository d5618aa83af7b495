// What hurried hands do: click twice, press the wrong key, go back. Nothing is done twice, and nothing typed is lost.
import { offline } from "capstan/models/offline";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { agentProfiles, createChatAgents } from "./testing/chat-agents.ts";
import {
  chooseMenuItem,
  getPrompt,
  getTranscript,
  retryGesture,
  sendAndWait,
  sendMessage,
  skipMisclickGuard,
  waitUntilIdle,
} from "./testing/conversation-page.ts";
import { createViewAgent } from "./testing/view-agent.ts";

const studio = setupStudio(() => ({
  agents: [...createChatAgents(), createViewAgent()],
  about: agentProfiles,
  storedAgents: { tools: [], sources: [], models: [offline()] },
}));

async function countListed(page: Page, what: "runs" | "sessions"): Promise<number> {
  return page.evaluate(
    async (name) => (await (await fetch(`/api/${name}?most=200`)).json())[name].length,
    what,
  );
}

/** Slow enough for a second click to come before the first is answered. */
async function delayResponses(page: Page, path: string): Promise<void> {
  await page.route(path, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    await route.continue();
  });
}

describe("a double click starts one run", () => {
  test("of a suggestion on the start page", async () => {
    const page = await studio.open("/");
    await delayResponses(page, "**/api/runs");
    const before = await countListed(page, "sessions");
    await page.getByRole("button", { name: "Look up how to begin", exact: true }).dblclick();
    await page.waitForURL(/\/sessions\//);
    await waitUntilIdle(page);
    await page.waitForTimeout(600);
    expect((await countListed(page, "sessions")) - before).toBe(1);
  });

  test("of Regenerate, and of Retry after a stop", async () => {
    const page = await studio.open("/");
    await sendAndWait(page, "Some words");
    await delayResponses(page, "**/api/sessions/*/fork");
    const first = await countListed(page, "sessions");
    await page.getByRole("button", { name: "Regenerate" }).dblclick();
    await getTranscript(page).getByText("2/2").waitFor();
    await waitUntilIdle(page);
    await page.waitForTimeout(600);
    expect((await countListed(page, "sessions")) - first).toBe(1);
    await sendMessage(page, "Count");
    await page.locator("[data-live]").getByText("word12").waitFor();
    await page.keyboard.press("Escape");
    const second = await countListed(page, "sessions");
    await page.getByRole("button", { name: "Retry", exact: true }).dblclick();
    await page.locator("[data-live]").getByText("word12").waitFor();
    await page.keyboard.press("Escape");
    await waitUntilIdle(page);
    await page.waitForTimeout(600);
    expect((await countListed(page, "sessions")) - second).toBe(1);
  });
});

test("a selected node stays visible in another layout and in other colors", async () => {
  const page = await studio.open("/?agent=explorer");
  await sendAndWait(page, "Make them #0000ff");
  const panel = page.getByRole("complementary", { name: "Inspector" });
  const drawing = panel.locator("svg:has([data-nodes])");
  await drawing.waitFor({ state: "attached" });
  await panel.getByText("Nodes and edges as a list").click();
  await panel.getByRole("button", { name: "cat1" }).first().click();
  await panel.getByRole("button", { name: "Circle" }).click();
  await sendAndWait(page, "Make them #ff0000");
  await panel.getByText("5 nodes, 4 edges, 2 changed").waitFor();
  await takePicture(page, "graph-selected");
  expect([await drawing.count(), await panel.getByText("failed to render").count()]).toEqual([1, 0]);
});

test("a typed note is not lost by allowing the call", async () => {
  const page = await studio.open("/");
  await sendMessage(page, "Save it");
  const card = page.locator("[data-approval]");
  await card.waitFor();
  await skipMisclickGuard(page);
  const [allow, always] = ["Allow", "Always allow"].map((name) =>
    card.getByRole("button", { name, exact: true }),
  );
  await card.getByRole("button", { name: "Add a reason" }).click();
  await card.getByLabel("Reason for denial").fill("Ask me tomorrow.");
  expect([await allow?.isDisabled(), await always?.isDisabled()]).toEqual([true, true]);
  await card.getByText("Notes are only sent with a denial.").waitFor();
  await takePicture(page, "approval-note");
  await card.getByLabel("Reason for denial").fill("");
  await allow?.click();
  await getTranscript(page).getByText("The greeting is changed.").waitFor();
});

describe("a session that was deleted", () => {
  async function deleted(page: Page, title: string): Promise<void> {
    const list = page.getByRole("navigation", { name: "Sessions" });
    await list.getByRole("link", { name: title }).hover();
    await list.getByLabel(`Actions for ${title}`).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await delayResponses(page, "**/api/sessions/*");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).dblclick();
    await page.waitForURL((url) => url.pathname === "/");
  }
  const gone = (page: Page, words = "This session was deleted") =>
    page.getByRole("main").getByText(words).waitFor();

  test("disappears at once without a composer, and a double click deletes once", async () => {
    const page = await studio.open("/", { expects: [/404/] });
    await sendAndWait(page, "Words to forget");
    await deleted(page, "Words to forget");
    await page.goBack();
    await gone(page);
    await takePicture(page, "deleted");
    expect([await getPrompt(page).count(), await getTranscript(page).count()]).toEqual([0, 0]);
    await page.waitForTimeout(600);
    await expect.poll(() => page.locator("[aria-live] > *").allInnerTexts()).toEqual([]);
    await page.reload();
    await gone(page, "Session not found");
    expect([await getPrompt(page).count(), await page.getByText("Nothing was said").count()]).toEqual([0, 0]);
    await page.getByRole("main").getByRole("link", { name: "Start a new chat" }).click();
    await getPrompt(page).waitFor();
  });
});

test("unsaved changes to a new agent are not discarded without asking", async () => {
  const page = await studio.open("/agents");
  const form = page.getByRole("dialog", { name: "New agent" });
  const question = page.getByRole("dialog", { name: "Discard changes?" });
  const pressEscape = () => page.keyboard.press("Escape");
  await page.getByRole("button", { name: "New agent" }).click();
  // A dialog listens for Escape once it has the focus.
  await form.locator(":focus").waitFor();
  await retryGesture(pressEscape, () => form.waitFor({ state: "detached" }));
  await page.getByRole("button", { name: "New agent" }).click();
  await form.getByLabel("Name").fill("harbour-master");
  await page.keyboard.press("Escape");
  await question.waitFor();
  await takePicture(page, "agent-discard");
  await question.getByRole("button", { name: "Keep editing" }).click();
  await question.waitFor({ state: "detached" });
  await retryGesture(
    () => page.mouse.click(200, 450),
    () => question.waitFor(),
  );
  await question.locator(":focus").waitFor();
  await retryGesture(pressEscape, () => question.waitFor({ state: "detached" }));
  await expect.poll(() => form.getByLabel("Name").inputValue()).toBe("harbour-master");
  await form.getByRole("button", { name: "Cancel" }).click();
  await question.getByRole("button", { name: "Discard" }).click();
  await form.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "New agent" }).click();
  await expect.poll(() => form.getByLabel("Name").inputValue()).toBe("");
});

test("without hover, the session menu is visible", async () => {
  const page = await studio.open("/", { size: "phone" });
  await sendAndWait(page, "Words on a phone");
  await page.getByRole("button", { name: "Show sidebar" }).click();
  const menu = page.getByLabel("Actions for Words on a phone");
  await menu.waitFor();
  await takePicture(page, "list-phone");
  const pages = await page.getByRole("navigation", { name: "Pages" }).boundingBox();
  expect(pages?.height, "the sessions need the space").toBeLessThan(320);
  const opacity = await menu.evaluate((button) => getComputedStyle(button.parentElement as Element).opacity);
  expect(opacity).toBe("1");
});

test("after a rename the focus returns", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, "Words with a name");
  const list = page.getByRole("navigation", { name: "Sessions" });
  await list.getByLabel("Actions for Words with a name").focus();
  await chooseMenuItem(page, "Rename");
  await page.getByLabel("Title").fill("A better name");
  await page.keyboard.press("Enter");
  const menu = list.getByLabel("Actions for A better name");
  await menu.waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(() => menu.evaluate((button) => button === document.activeElement)).toBe(true);
});

test("a dialog opened from a menu keeps the focus, so that early typing is not lost", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, "Words for hasty hands");
  await page.evaluate(() => {
    document.addEventListener("focusin", ({ target }) => {
      if (target instanceof HTMLInputElement) target.dataset.focused = `${target.dataset.focused ?? ""}x`;
    });
  });
  await page.getByRole("navigation").getByLabel("Actions for Words for hasty hands").focus();
  await chooseMenuItem(page, "Rename");
  const title = page.getByLabel("Title");
  await page.waitForTimeout(400);
  await expect.poll(() => title.getAttribute("data-focused")).toBe("x");
});

test("a late response does not replace a newer session list", async () => {
  const page = await studio.open("/sessions");
  const main = page.getByRole("main");
  const menu = main.getByLabel(/^Actions for/).first();
  await menu.waitFor();
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
    await chooseMenuItem(page, "Rename");
    await page.getByLabel("Title").fill(to);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await rename(menu, "The name before");
  await rename(menu, "The name after");
  await main.getByText("The name after").waitFor();
  const late = page.waitForResponse("**/api/sessions?*");
  release.resolve();
  await (await late).finished();
  await page.waitForTimeout(200);
  await expect.poll(() => main.getByText("The name before").count()).toBe(0);
});

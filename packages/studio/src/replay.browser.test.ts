import { type Agent, agentTool, defineAgent, defineTool } from "capstan";
import { type Client, createClient } from "capstan/client";
import { scriptedModel } from "capstan/testing";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { waitUntilStill } from "./testing/conversation-page.ts";

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const search = defineTool({
  name: "search",
  description: "Searches the timetable.",
  input: { type: "object", properties: { query: { type: "string" } } },
  effects: "none",
  reads: ["public"],
  async execute(input) {
    await wait(60);
    const { query } = input as { query: string };
    if (query === "closed") throw new Error("The timetable is closed.");
    return `Two trains for ${query}`;
  },
});

/** Looks twice at once and asks another agent, looks again at what fails, then answers; without tools at once. */
function createTravelAgent(): Agent {
  const helper = scriptedModel(
    ({ history }) =>
      history.at(-1)?.type === "user"
        ? { calls: [{ name: "search", input: { query: "seats" } }], delayMs: 30 }
        : { text: "There are seats.", delayMs: 20 },
    { id: "helper-model" },
  );
  const model = scriptedModel(
    ({ history, tools }) => {
      const since = history.slice(history.findLastIndex(({ type }) => type === "user"));
      const turns = since.filter(({ type }) => type === "assistant").length;
      const usage = {
        inputTokens: 900 + 150 * turns,
        outputTokens: 40,
        cachedTokens: 300 * turns,
        cost: 0.004,
      };
      if (tools.length === 0 || turns >= 2)
        return { text: `Take the train at ${9 + turns}.`, usage, delayMs: 60 };
      const both = ["Basel", "Bern"].map((query) => ({ name: "search", input: { query } }));
      const asked = { name: "seats", input: { prompt: "Are there seats?" } };
      if (turns === 0) return { text: "I look at both.", calls: [...both, asked], usage, delayMs: 90 };
      return { calls: [{ name: "search", input: { query: "closed" } }], usage, delayMs: 50 };
    },
    { id: "travel-model" },
  );
  const seats = agentTool(
    defineAgent({ name: "seats", instructions: "Find seats.", model: helper, tools: [search] }),
  );
  return defineAgent({
    name: "traveller",
    instructions: "You help people who travel.\nAnswer in one sentence.",
    model,
    tools: [search, seats],
    policy: { maxTurns: 3, contextBudget: 8000 },
  });
}

const manySteps = 110;

/** Takes a step after the other, each of them an entry of the conversation. */
function createWalkAgent(): Agent {
  const step = defineTool({
    name: "step",
    description: "Takes a step.",
    input: { type: "object" },
    effects: "none",
    execute: () => "Done.",
  });
  const model = scriptedModel(({ history }) => {
    const number = history.filter(({ type }) => type === "assistant").length + 1;
    if (number > manySteps) return { text: "Arrived." };
    return { text: `Step number ${number}.`, calls: [{ name: "step", input: { number } }] };
  });
  return defineAgent({ name: "walker", model, tools: [step], policy: { maxTurns: 200, gate: "off" } });
}

const studio = setupStudio(() => ({ agents: [createTravelAgent(), createWalkAgent()] }));

let client: Client;
let sessionId: string;
let runId: string;

type Where = { readonly sessionId?: string; readonly agent?: string };

async function startRun(input: string, where: Where = {}): Promise<{ runId: string; sessionId: string }> {
  const started = await client.runs.start({ input, ...where });
  for await (const _ of client.runs.events(started.runId));
  return started;
}

beforeAll(async () => {
  client = createClient({ baseURL: studio.url });
  const first = await startRun("Which train goes to Bern?");
  ({ sessionId } = first);
  ({ runId } = await startRun("And on Sunday?", { sessionId }));
});

/** What is asked of the server that could begin or change something. */
function watchMutations(page: Page): string[] {
  const changes: string[] = [];
  page.on("request", (request) => {
    if (request.method() !== "GET") changes.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  return changes;
}

async function openInspector(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Show inspector" }).click();
  await page.getByRole("tab", { name: "Timeline" }).waitFor();
}

const getBars = (page: Page, kind: string) => page.locator(`[data-bar][data-kind=${kind}]`);
const getMoment = (page: Page) => page.locator("[data-moment]").getAttribute("data-moment");

describe("the inspector", () => {
  test("shows durations, and links bars and chat in both directions", async () => {
    const page = await studio.open(`/sessions/${sessionId}`);
    await openInspector(page);
    await getBars(page, "tool").first().waitFor();
    // Of each run: two searches, the agent and its search, and the search that fails.
    await expect.poll(() => getBars(page, "tool").count()).toBe(10);
    await getBars(page, "tool").first().click();
    await page.locator("[data-call]").first().waitFor();
    await expect.poll(() => page.locator("[data-call]").first().isVisible()).toBe(true);
    await page
      .getByRole("region", { name: "Details" })
      .getByRole("button", { name: "Show in chat" })
      .waitFor();
    await page.keyboard.press("ArrowDown");
    await expect
      .poll(() => page.locator("[data-bar][aria-pressed=true]").getAttribute("aria-label"))
      .toMatch(/^tool search/);
    await takePicture(page, "timeline-desktop-light");

    await waitUntilStill(page); // what it leaves behind on its way is taken from the page
    await page.locator("[data-call]").last().getByRole("button").first().click();
    await page.getByRole("button", { name: "Show in timeline" }).last().click();
    const chosen = page.locator("[data-bar][aria-pressed=true]");
    await expect.poll(() => chosen.getAttribute("aria-label")).toMatch(/^tool search, .*, error/);
    await page.getByRole("button", { name: "Show as table" }).click();
    await expect.poll(() => page.getByRole("row").count()).toBeGreaterThan(15);
  });

  test("scrolls to any position of a long conversation and back", async () => {
    const long = await startRun("Walk", { agent: "walker" });
    const page = await studio.open(`/sessions/${long.sessionId}`);
    const chat = page.getByRole("region", { name: "Conversation" });
    const isInSight = (text: string) =>
      chat.evaluate((scroller, wanted) => {
        const entries = [...scroller.querySelectorAll("[data-seq]")];
        const entry = entries.find((one) => one.querySelector("article")?.innerText.includes(wanted));
        const [{ top, bottom }, bounds] = [
          entry?.getBoundingClientRect() ?? { top: -1, bottom: -1 },
          scroller.getBoundingClientRect(),
        ];
        return top >= bounds.top - 1 && bottom <= bounds.bottom + 1;
      }, text);
    await openInspector(page);
    await expect.poll(() => isInSight("Arrived.")).toBe(true);
    expect(await isInSight("Step number 7.")).toBe(false);
    await getBars(page, "tool").nth(6).click();
    await expect.poll(() => isInSight("Step number 7.")).toBe(true);
    await page.keyboard.press("End");
    await expect.poll(() => isInSight("Arrived.")).toBe(true);
    await page.locator("[data-bar]:focus").waitFor();
    await page.keyboard.press("Home");
    await expect.poll(() => isInSight("Step number 1.")).toBe(true);
    const step = chat.locator("[data-seq]", { hasText: "Step number 2." });
    await step.getByRole("button", { name: /^step/ }).click();
    await step.getByRole("button", { name: "Show in timeline" }).click();
    await expect.poll(() => getBars(page, "tool").nth(1).getAttribute("aria-pressed")).toBe("true");
    expect(await isInSight("Step number 2.")).toBe(true);
  });

  test("shows the messages in all formats, the prompt with its note, and the events, also in a view of the server", async () => {
    const page = await studio.open(`/sessions/${sessionId}`, { theme: "dark" });
    await openInspector(page);
    await page.getByRole("tab", { name: "Messages" }).click();
    const messages = page.getByRole("region", { name: "Messages" });
    await messages.getByText("Two trains for Bern").first().waitFor();
    await takePicture(page, "messages-desktop-dark");
    await page.getByLabel("Format").selectOption("anthropic");
    await messages.getByText('"tool_use_id"').first().waitFor();
    await page.getByRole("tab", { name: "Prompt" }).click();
    const prompt = page.getByRole("region", { name: "Prompt" });
    await prompt.getByText("You help people who travel.").waitFor();
    await prompt.getByText("Added for this turn").waitFor();
    await takePicture(page, "prompt-desktop-dark");
    await page.getByRole("button", { name: "Previous turn" }).click();
    await prompt.getByText("2 tools, available").waitFor();
    await page.getByRole("tab", { name: "Events" }).click();
    await page.getByLabel("Search events").fill("timetable is closed");
    await page.locator("[data-event]").first().getByRole("button").click();
    await page.getByText('"is_error": true').waitFor();
    await takePicture(page, "events-desktop-dark");
    await page.getByLabel("Event view").selectOption("chat");
    await page.locator('[data-view-event="tool_call_start"]').first().click();
    await page.getByText('"arguments"').first().waitFor();
  });

  test("runs again with another policy after confirmation, and compares both runs", async () => {
    const page = await studio.open(`/sessions/${sessionId}`);
    const changes = watchMutations(page);
    await openInspector(page);
    await page.getByRole("tab", { name: "Policy" }).click();
    await page.getByText("default 10").waitFor();
    await page.getByLabel("Max turns").fill("2");
    await takePicture(page, "policy-desktop-light");
    await page.getByRole("button", { name: "Run again" }).click();
    const dialog = page.getByRole("dialog", { name: "Run again" });
    await dialog.getByText("Models and tools are called again").waitFor();
    expect(changes).toEqual([]);
    await takePicture(page, "rerun-desktop-light");
    await dialog.getByRole("button", { name: "Run and compare" }).click();
    await page.waitForURL(/\/compare\//);
    expect(changes).toEqual([`POST /api/runs/${runId}/rerun`]);
    await page.getByText("2 of 3 turns differ.").waitFor();
    await page.locator("[data-difference=left]").waitFor();
    await page.locator("ins").first().waitFor();
    await takePicture(page, "compare-desktop-light");
    await page.getByLabel("Left: run").selectOption({ index: 0 });
    await page.waitForURL((url) => !url.pathname.includes(`/compare/${runId}/`));
  });
});

describe("replay and compare", () => {
  test("a replay steps through a session by turn and by event, and sends no request that starts anything (S0-46)", async () => {
    const page = await studio.open(`/sessions/${sessionId}/replay`);
    const changes = watchMutations(page);
    const chat = page.getByRole("region", { name: "Conversation at this moment" });
    await chat.getByText("Take the train at 11.").last().waitFor();
    const total = Number(await getMoment(page));
    await page.keyboard.press("Home");
    await chat.getByText("Start of the session").waitFor();
    await page.keyboard.press("ArrowRight");
    await chat.getByText("Which train goes to Bern?").waitFor();
    await expect.poll(() => chat.getByText("I look at both.").count()).toBe(0);
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    await chat.getByText("I look at both.").waitFor();
    await expect.poll(() => page.locator("[data-call][data-state=ok]").count()).toBe(4);
    await takePicture(page, "replay-desktop-light");
    await page.getByLabel("Speed").selectOption("16");
    await page.locator("body").click({ position: { x: 900, y: 5 } });
    await page.keyboard.press("Space");
    await expect.poll(() => getMoment(page)).toBe(String(total));
    await page.getByRole("slider", { name: "Moment" }).fill("3");
    await expect.poll(() => getMoment(page)).toBe("3");
    expect(changes).toEqual([]);
  });

  test("a fork of a turn is a new session with everything before it", async () => {
    const page = await studio.open(`/sessions/${sessionId}/replay`);
    await page.getByRole("button", { name: "Fork after turn 3" }).waitFor();
    await page.keyboard.press("Home");
    for (let step = 0; step < 4; step++) await page.keyboard.press("Shift+ArrowRight");
    await page.getByRole("button", { name: "Fork after turn 2" }).click();
    await page.waitForURL((url) => /^\/sessions\/[^/]+$/.test(url.pathname));
    expect(page.url()).not.toContain(sessionId);
    await page.getByText("I look at both.").waitFor();
    await expect.poll(() => page.getByText("Take the train at 11.").count()).toBe(0);
  });
});

test("everything fits on a phone, in both themes", async () => {
  const page = await studio.open(`/sessions/${sessionId}`, { size: "phone" });
  async function pictures(name: string): Promise<void> {
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      if (process.env.CAPSTAN_PICTURES) await wait(200); // colours fade into each other
      await takePicture(page, `${name}-phone-${colorScheme}`);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
  }
  await openInspector(page);
  await getBars(page, "tool").first().click();
  await pictures("timeline");
  await page.getByRole("tab", { name: "Policy" }).click();
  await pictures("policy");
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.getByRole("link", { name: "Compare last two runs" }).click();
  await page.getByRole("table").waitFor();
  await pictures("compare");
  await page.goto(`${studio.url}/sessions/${sessionId}/replay`);
  await page.getByRole("button", { name: "Previous turn" }).click();
  await pictures("replay");
});

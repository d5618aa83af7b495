import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";

const rooms = Array.from({ length: 120 }, (_, index) =>
  defineTool({
    ...{
      name: `open_room_${index}`,
      description: `Opens the door of room ${index}.`,
      input: {},
      defer: true,
    },
    ...{ effects: "none", execute: () => `Room ${index} is open.` },
  }),
);
const clock = defineTool({
  ...{ name: "get_time", description: "Tells the time.", input: {}, defer: false },
  ...{ effects: "none", execute: () => "It is noon." },
});
const model = scriptedModel(({ history }) => {
  const results = history.filter(({ type }) => type === "result").length;
  if (results === 0) return { calls: [{ name: "search_tools", input: { query: "open room 17", limit: 2 } }] };
  return results === 1 ? { calls: [{ name: "open_room_17" }] } : { text: "Room 17 is open." };
});

const studio = setupStudio(() => ({
  agents: [defineAgent({ name: "porter", model, tools: [clock, ...rooms] })],
}));

let sessionId = "";
beforeAll(async () => {
  const send = async (method: string, path: string, body?: object) => {
    const headers = { host: "127.0.0.1", "content-type": "application/json" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    return (await studio.server.fetch(new Request(`http://127.0.0.1${path}`, init))).json();
  };
  const started = await send("POST", "/api/runs", { input: "Please open room 17." });
  sessionId = started.sessionId;
  await vi.waitFor(async () => {
    expect(await send("GET", `/api/runs/${started.runId}`)).toMatchObject({ state: "ended" });
  });
});

async function showPrompt(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Show inspector" }).click();
  await page.getByRole("tab", { name: "Prompt" }).click();
  await page.getByLabel("View of the prompt").waitFor();
}

describe("the prompt of a turn with deferred tools", () => {
  test("shows which tools were found, and how many the model can search for", async () => {
    const page = await studio.open(`/sessions/${sessionId}`);
    await showPrompt(page);
    const prompt = page.getByRole("region", { name: "Prompt" });
    const tools = prompt.getByRole("region", { name: "5 tools, available" });
    const found = tools.getByRole("listitem").filter({ hasText: "found by search" });
    await found.first().waitFor();
    await expect.poll(() => found.count()).toBe(2);
    await expect.poll(() => found.first().textContent()).toContain("open_room_17");
    await tools.getByText("The model can search for 118 more tools.").waitFor();
    await tools.scrollIntoViewIfNeeded();
    await takePicture(page, "tool-search-desktop-light");
    await page.getByRole("button", { name: "Previous turn" }).press("Enter");
    await page.getByRole("button", { name: "Previous turn" }).press("Enter");
    await prompt.getByText("The model can search for 120 more tools.").waitFor();
    await expect.poll(() => prompt.getByText("found by search").count()).toBe(0);
  });

  test("fits a phone in the dark", async () => {
    const page = await studio.open(`/sessions/${sessionId}`, { size: "phone", theme: "dark" });
    await showPrompt(page);
    const found = page.getByText("found by search").first();
    await found.waitFor();
    await found.scrollIntoViewIfNeeded();
    const section = "section[aria-label=Prompt]";
    await assertAccessible(page, section);
    await takePicture(page, "tool-search-phone-dark");
  });
});

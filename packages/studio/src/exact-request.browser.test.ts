import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineAgent, defineTool } from "capstan";
import { openai } from "capstan/models/openai";
import { scriptedModel } from "capstan/testing";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";

let looked = 0;
const look = defineTool({
  ...{
    name: "look",
    description: "Looks up the opening hours of a place",
    input: { place: { type: "string" } },
  },
  ...{ effects: "none" },
  execute: ({ place }) => `${place} is open from 8 to 18, lookup ${++looked}.`,
});

/** What the provider got, and a provider that answers with a call first. */
const bodies: string[] = [];
let provider: HttpServer;
let baseURL = "";
/** Lets the provider answer the message that it holds back. */
const held = Promise.withResolvers<void>();

function answer(body: string): object {
  if (body.includes("Answer in French")) return { content: "Le port ouvre à 8 heures." };
  if (body.includes('"role":"tool"')) return { content: "The harbour opens at 8." };
  const call = { index: 0, id: "call_1", type: "function" };
  return { tool_calls: [{ ...call, function: { name: "look", arguments: '{"place":"The harbour"}' } }] };
}

beforeAll(async () => {
  provider = createHttpServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    if (body.includes("Take your time")) await held.promise;
    const delta = answer(body);
    const finish = "content" in delta ? "stop" : "tool_calls";
    const usage = { prompt_tokens: 120, completion_tokens: 12 };
    const event = { id: "1", choices: [{ index: 0, delta, finish_reason: finish }], usage };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  baseURL = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

const other = scriptedModel(() => ({ text: "Another model says 8." }), { id: "acme/other" });
const studio = setupStudio(() => ({
  agents: [
    defineAgent({
      name: "guide",
      model: openai({ model: "m", apiKey: "sk-never-shown-anywhere", baseURL, api: "chat" }),
      tools: [look],
      instructions: "You know the harbour. Be brief.",
    }),
  ],
  models: [other],
}));

let sessionId = "";
beforeAll(async () => {
  const started = await startRun("When does the harbour open?");
  sessionId = started.sessionId;
  await vi.waitFor(async () => {
    const { state } = await (await send("GET", `/api/runs/${started.runId}`)).json();
    expect(state).toBe("ended");
  });
});

async function startRun(input: string): Promise<{ readonly runId: string; readonly sessionId: string }> {
  return (await send("POST", "/api/runs", { input })).json();
}

async function send(method: string, path: string, body?: object): Promise<Response> {
  const request = new Request(`http://127.0.0.1${path}`, {
    ...{ method, headers: { host: "127.0.0.1", "content-type": "application/json" } },
    ...(body && { body: JSON.stringify(body) }),
  });
  return studio.server.fetch(request);
}

async function openPrompt(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Show inspector" }).click();
  await page.getByRole("tab", { name: "Prompt" }).click();
  await page.getByLabel("View of the prompt").waitFor();
}

describe("the prompt tab", () => {
  test("shows the exact request, what was added since the turn before, and copies it without the key", async () => {
    const page = await studio.open(`/sessions/${sessionId}`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await openPrompt(page);
    const prompt = page.getByRole("region", { name: "Prompt" });
    await page.getByLabel("View of the prompt").selectOption("raw");
    await expect
      .poll(() => prompt.locator("[data-added]").textContent())
      .toContain("The harbour is open from 8 to 18");
    await expect.poll(() => prompt.locator("[data-added]").textContent()).not.toContain("Be brief.");
    await takePicture(page, "exact-raw-desktop-light");
    await page.getByRole("button", { name: "Copy the request" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(bodies[1]);
    await page.getByRole("button", { name: "Copy as curl" }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    expect(command).toContain(`${baseURL}/chat/completions`);
    expect(command).not.toContain("sk-never");
    await page.getByLabel("View of the prompt").selectOption("json");
    await prompt.getByText('"role": "system"').first().waitFor();
    await assertAccessible(page, "section[aria-label=Prompt]");
    await takePicture(page, "exact-json-desktop-light");
  });

  test("tries a turn again with changes and shows both answers, by keyboard alone", async () => {
    const page = await studio.open(`/sessions/${sessionId}`, { theme: "dark" });
    await openPrompt(page);
    const before = bodies.length;
    await page.getByRole("button", { name: "Try again with changes" }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Instructions").waitFor();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("Answer in French.");
    await dialog.getByLabel("Settings (JSON)").fill("[1]");
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByText("Settings must be a JSON object").waitFor();
    await dialog.getByLabel("Settings (JSON)").fill('{"temperature":0}');
    await dialog.getByRole("button", { name: "Send" }).press("Enter");
    await dialog.getByRole("region", { name: "New answer" }).getByText("Le port ouvre à 8 heures.").waitFor();
    const original = dialog.getByRole("region", { name: "Original answer" });
    await original.getByText("The harbour opens at 8.").waitFor();
    expect(JSON.parse(bodies[before] ?? "")).toMatchObject({ temperature: 0, tools: [{}] });
    await assertAccessible(page, "[role=dialog]");
    await takePicture(page, "try-desktop-dark");
    await dialog.getByLabel("Model", { exact: true }).selectOption("acme/other");
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByText("Another model says 8.").waitFor();
    expect(looked).toBe(1);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
  });

  test("loads the exact request of a turn once its answer is stored", async () => {
    const { runId, sessionId } = await startRun("Take your time: when does the harbour open?");
    const page = await studio.open(`/sessions/${sessionId}`);
    const statuses: number[] = [];
    page.on("response", (response) => {
      if (response.url().includes(`/runs/${runId}/requests/`)) statuses.push(response.status());
    });
    await page.getByRole("button", { name: "Show inspector" }).click();
    await page.getByRole("tab", { name: "Prompt" }).click();
    await page.getByRole("button", { name: "Try again with changes" }).waitFor();
    held.resolve();
    await page.getByLabel("View of the prompt").waitFor();
    await expect.poll(() => page.getByText("The exact request is not stored").count()).toBe(0);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test("fits a phone", async () => {
    const page = await studio.open(`/sessions/${sessionId}`, { size: "phone" });
    await openPrompt(page);
    await page.getByLabel("View of the prompt").selectOption("raw");
    await page.locator("[data-added]").waitFor();
    await assertAccessible(page, "section[aria-label=Prompt]");
    await takePicture(page, "exact-raw-phone-light");
    await page.getByRole("button", { name: "Try again with changes" }).click();
    const dialog = page.getByRole("dialog").filter({ hasText: "one model call" });
    await dialog.getByLabel("Message", { exact: true }).fill("And on Sundays?");
    await dialog.getByLabel("look").uncheck();
    await dialog.getByRole("button", { name: "Send" }).click();
    const answer = dialog.getByRole("region", { name: "New answer" });
    await answer.waitFor();
    expect(JSON.parse(bodies.at(-1) ?? "").tools).toBeUndefined();
    expect(bodies.at(-1)).toContain("And on Sundays?");
    // The answers are below the form, and are scrolled to.
    await expect.poll(async () => (await answer.boundingBox())?.y).toBeLessThan(844 - 40);
    await assertAccessible(page, "[role=dialog]");
    await takePicture(page, "try-phone-light");
  });
});

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { callbackRedirect, type McpTools, mcpTools, memoryTokens, type ServerConfig } from "@capstan/mcp";
import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
import type { Locator, Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { startOAuthServer } from "../../mcp/src/client/oauth/testing/oauth-server.ts";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { sizes } from "./testing/launch-browser.ts";

const everything = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist/index.js",
);
const hostile = fileURLToPath(new URL("../../server/src/testing/hostile-mcp-server.ts", import.meta.url));
const toProgram = (script: string): ServerConfig => ({
  command: process.execPath,
  args: [script],
  startTimeout: 60_000,
});

const guarded = await startOAuthServer();
const redirect = callbackRedirect({ hint: "sign in here" });
const mcp: McpTools = await mcpTools({
  mcpServers: { everything: toProgram(everything), hostile: toProgram(hostile) },
  oauth: { tokens: memoryTokens(), redirect },
});
const stored = new Map<string, ServerConfig>();
const file = {
  path: "/project/.mcp.json",
  list: async () => [...stored.keys()],
  put: async (name: string, config: ServerConfig) => void stored.set(name, config),
  remove: async (name: string) => void stored.delete(name),
};
const agents = [defineAgent({ name: "guide", model: scriptedModel([]) })];
const studio = setupStudio(() => ({ agents, mcp, mcpSettings: { file, redirect } }));
afterAll(async () => {
  await mcp.close();
  await guarded.close();
});

const getCard = (page: Page, name: string): Locator => page.getByRole("region", { name, exact: true });

async function openFold(page: Page, server: string, title: string | RegExp): Promise<Locator> {
  const card = getCard(page, server);
  await card.locator("summary").filter({ hasText: title }).click();
  return card;
}

async function tryTool(page: Page, server: string, tool: string): Promise<Locator> {
  const card = await openFold(page, server, /\d+ tools?$/);
  await card.getByRole("button", { name: `Try ${tool}`, exact: true }).click();
  return page.getByRole("dialog", { name: `Try ${tool}` });
}

test("a tool is tried with a form, confirmed, and its messages are shown live (S4-43)", async () => {
  const page = await studio.open("/mcp-servers");
  const card = await openFold(page, "everything", "Messages");
  await card.getByText("tools/list").first().waitFor();
  const dialog = await tryTool(page, "everything", "get-sum");
  // By the keyboard: both numbers, then Enter.
  await dialog.getByLabel("a", { exact: false }).first().fill("2");
  await page.keyboard.press("Tab");
  await page.keyboard.type("40");
  await assertAccessible(page);
  await takePicture(page, "mcp-try");
  await page.keyboard.press("Enter");
  const confirmation = page.getByRole("dialog", { name: "Call get-sum?" });
  await confirmation.getByText('"b": 40').waitFor();
  await takePicture(page, "mcp-confirm");
  await confirmation.getByRole("button", { name: "Call" }).click();
  await dialog.getByText("The sum of 2 and 40 is 42.").waitFor();
  await takePicture(page, "mcp-result");
  await page.keyboard.press("Escape");
  await card.getByText("tools/call get-sum").first().waitFor();
  await card.getByText("tools/call get-sum").first().click();
  await card.getByText('"name": "get-sum"').waitFor();
  await assertAccessible(page);
  await takePicture(page, "mcp-messages");
  await page.setViewportSize(sizes.phone);
  const { x = 0, width = Number.POSITIVE_INFINITY } = (await card.boundingBox()) ?? {};
  expect(x + width).toBeLessThanOrEqual(sizes.phone.width);
});

test("arguments can be written as JSON, and mistakes are explained", async () => {
  const page = await studio.open("/mcp-servers", { expects: [/400/] });
  const dialog = await tryTool(page, "everything", "echo");
  await dialog.getByLabel("JSON", { exact: true }).check();
  const text = dialog.getByLabel("Arguments as JSON");
  await text.fill("{ not json");
  await dialog.getByRole("button", { name: "Call" }).click();
  await expect.poll(() => page.getByRole("dialog", { name: "Call echo?" }).count()).toBe(0);
  await text.fill('{ "message": 7 }');
  await dialog.getByRole("button", { name: "Call" }).click();
  await page.getByRole("dialog", { name: "Call echo?" }).getByRole("button", { name: "Call" }).click();
  await dialog.getByRole("alert").getByText("Invalid arguments").waitFor();
});

test("a hostile server can neither run code nor break the form (A68, A127)", async () => {
  const page = await studio.open("/mcp-servers", { size: "phone", theme: "dark" });
  let dialogs = 0;
  page.on("dialog", (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
  const dialog = await tryTool(page, "hostile", "recursive");
  await dialog.getByLabel("name required").fill("root");
  await dialog.getByRole("button", { name: "Add an item to children" }).click();
  await dialog.getByLabel("name required").nth(1).fill("child");
  await dialog.getByRole("button", { name: "Add parent" }).click();
  await dialog.getByRole("button", { name: "Add parent" }).waitFor();
  await dialog.getByLabel("name required").nth(2).fill("grandparent");
  await assertAccessible(page);
  await takePicture(page, "mcp-hostile-form-phone-dark");
  await dialog.getByRole("button", { name: "Call" }).click();
  await page.getByRole("dialog", { name: "Call recursive?" }).getByRole("button", { name: "Call" }).click();
  await dialog.getByText("<script>").first().waitFor();
  await dialog.getByText("image/svg+xml, not shown").waitFor();
  await takePicture(page, "mcp-hostile-result-phone-dark");
  await expect.poll(() => dialog.locator("img, script, svg[onload], a").count()).toBe(0);
  await page.keyboard.press("Escape");
  const card = await openFold(page, "hostile", "Resources");
  await card.getByRole("button", { name: /^Read/ }).click();
  await page.getByRole("dialog").getByText("<script>").first().waitFor();
  await page.keyboard.press("Escape");
  const huge = getCard(page, "hostile").getByRole("button", { name: "Try huge", exact: true });
  await huge.click();
  await page.getByText("940 more fields: enter them as JSON.").waitFor();
  await expect.poll(() => page.getByRole("dialog").locator("textarea").count()).toBe(60);
  expect(dialogs).toBe(0);
});

test("a server is added, signed in to, and removed (S4-02, A33)", async () => {
  const page = await studio.open("/mcp-servers");
  await page.getByRole("button", { name: "Add a server" }).click();
  const form = page.getByRole("dialog", { name: "Add an MCP server" });
  await form.getByText("Programs are off here").waitFor();
  await expect.poll(() => form.getByLabel("A program on this machine").isDisabled()).toBe(true);
  await form.getByLabel("Name").fill("guarded");
  await form.getByLabel("URL", { exact: true }).fill(guarded.url);
  await assertAccessible(page);
  await takePicture(page, "mcp-add");
  await form.getByRole("button", { name: "Add", exact: true }).click();
  const card = getCard(page, "guarded");
  await card.getByText("Sign-in required").waitFor();
  await takePicture(page, "mcp-sign-in-required");
  await card.getByRole("button", { name: "Sign in to guarded" }).click();
  const consent = page.getByRole("dialog", { name: "Sign in to guarded" });
  await consent.getByText(new URL(guarded.url).host, { exact: true }).waitFor();
  await takePicture(page, "mcp-sign-in");
  const popup = page.waitForEvent("popup");
  await consent.getByRole("link", { name: "Open the page" }).click();
  const callback = await popup;
  await callback.getByText("Back from the sign-in").waitFor();
  expect(new URL(callback.url()).origin).toBe(studio.url);
  await card.getByText("Ready").waitFor();
  await card.getByRole("button", { name: "Sign out of guarded" }).waitFor();
  await card.getByRole("button", { name: "Remove guarded" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await card.waitFor({ state: "detached" });
  expect([...stored.keys()]).toEqual([]);
});

test("prompts are shown with their arguments, also on a phone", async () => {
  const page = await studio.open("/mcp-servers", { size: "phone" });
  const card = await openFold(page, "everything", "Prompts");
  await card
    .getByRole("button", { name: /^Show Arguments/ })
    .first()
    .click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/city/i).fill("Oslo");
  await dialog.getByRole("button", { name: "Show messages" }).click();
  await dialog.getByText("Oslo").first().waitFor();
  await assertAccessible(page);
  await takePicture(page, "mcp-prompt-phone");
});

// The first screen: a question goes to the app that it fits, a new chat keeps its app, and a local model is offered.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool } from "capstan";
import { offline } from "capstan/models/offline";
import type { Locator, Page } from "playwright-core";
import { afterAll, expect, test, vi } from "vitest";
import { startFakeOllama } from "../../server/src/testing/fake-ollama.ts";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";
import {
  getPrompt,
  sendAndWait,
  sendMessage,
  waitForMessage,
  waitUntilIdle,
} from "./testing/conversation-page.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-new-chat-"));
const ollama = await startFakeOllama(["tiny", "small"], "Hello from this machine.");
vi.stubEnv("CAPSTAN_HOME", folder);
vi.stubEnv("OLLAMA_HOST", ollama.host);
for (const name of ["LMSTUDIO_HOST", "LLAMACPP_HOST", "VLLM_HOST"]) vi.stubEnv(name, "127.0.0.1:9");
afterAll(() => {
  ollama.close();
  rmSync(folder, { recursive: true });
});

const model = offline();
const createTool = (name: string, phrase: string, result: string) =>
  defineTool({
    ...{ name, description: `Answers ${phrase}`, input: { type: "object", properties: {} }, effects: "none" },
    examples: [{ phrase }],
    execute: () => result,
  });
const studio = setupStudio(() => ({
  agents: [
    defineAgent({ name: "harbor", model, tools: [createTool("tides", "when is high water", "At six.")] }),
    defineAgent({ name: "kitchen", model, tools: [createTool("soup", "which soup is there", "Leek soup.")] }),
    defineAgent({ name: "archive", model }),
  ],
  about: { harbor: { title: "Harbor" }, kitchen: { title: "Kitchen" }, archive: { title: "Archive" } },
  localModels: true,
}));

const getDestination = (page: Page): Locator => page.getByLabel("Agent", { exact: true });
const readDestination = (page: Page) =>
  getDestination(page).evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.text);

test("a question goes to the app it fits, which is shown before it is sent and can be changed by keyboard", async () => {
  const page = await studio.open("/");
  await page.getByRole("button", { name: "Kitchen" }).waitFor();
  expect(await readDestination(page)).toBe("the app that fits");
  await getPrompt(page).fill("which soup do you have today?");
  await expect.poll(() => readDestination(page)).toBe("Kitchen");
  await page.getByText("because of “soup”").waitFor();
  await page.getByRole("button", { name: "Kitchen", pressed: true }).waitFor();
  await takePicture(page, "first-screen-fits");
  await assertAccessible(page);
  await getPrompt(page).fill("hello there");
  await expect.poll(() => readDestination(page)).toBe("Harbor");
  await page.getByText("because no app fits clearly").waitFor();

  await getPrompt(page).fill("which soup is there");
  await expect.poll(() => readDestination(page)).toBe("Kitchen");
  await getDestination(page).focus();
  await page.keyboard.press("A"); // selects Archive
  await page.getByRole("button", { name: "Archive", pressed: true }).waitFor();
  expect(await readDestination(page)).toBe("Archive");
  await getDestination(page).selectOption("the app that fits");
  await expect.poll(() => readDestination(page)).toBe("Kitchen");
  await getPrompt(page).press("Enter");
  await page.getByRole("article", { name: "Message from kitchen" }).getByText("Leek soup.").first().waitFor();
});

test("a new chat keeps the app: by its button, by the shortcut and from the palette; the logo leaves the choice open", async () => {
  const page = await studio.open("/");
  await sendAndWait(page, "when is high water?");
  await page.getByRole("article", { name: "Message from harbor" }).first().waitFor();
  await page.getByRole("link", { name: "New chat" }).click();
  await page.waitForURL("**/?agent=harbor");
  await getPrompt(page).fill("which soup is there");
  expect(await readDestination(page)).toBe("Harbor");

  await page.goBack();
  await waitForMessage(page, "when is high water?");
  await page.keyboard.press("Control+Shift+O");
  await page.waitForURL("**/?agent=harbor");
  await page.goto(new URL("/?agent=kitchen", studio.url).href);
  await page.getByRole("button", { name: "Kitchen", pressed: true }).waitFor();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).fill("new chat");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/?agent=kitchen");
  await page.getByRole("link", { name: "Capstan", exact: true }).click();
  await expect.poll(() => readDestination(page)).toBe("Kitchen");
  await getPrompt(page).fill("");
  await expect.poll(() => readDestination(page)).toBe("the app that fits");
});

test("a model on this machine is offered on the first screen; once chosen it answers new chats and follow-ups, and is remembered", async () => {
  const page = await studio.open("/", { size: "phone", theme: "dark" });
  await page.getByText("2 models are available on this machine.").waitFor();
  await takePicture(page, "first-screen-local-phone-dark");
  await assertAccessible(page);
  await page.getByLabel("Local model").selectOption("ollama/small");
  await page.getByRole("button", { name: "Use it for new chats" }).tap();
  await page.getByText("Model: ollama/small").waitFor();
  await page.reload();
  await page.getByText("Model: ollama/small").waitFor();
  await sendMessage(page, "which soup do you have?");
  const answers = page.getByRole("article", { name: /^Message from kitchen/ });
  await answers.getByText("Hello from this machine.").waitFor();
  await waitUntilIdle(page);
  await sendAndWait(page, "and tomorrow?");
  await expect.poll(() => answers.getByText("Hello from this machine.").count()).toBe(2);
  await expect.poll(() => page.getByLabel("Model", { exact: true }).inputValue()).toBe("ollama/small");
  const chats = ollama.requests.filter((path) => path.endsWith("/chat/completions"));
  expect(chats).toHaveLength(2);

  // One chat can still use the agent's own model.
  await page.getByLabel("Model", { exact: true }).selectOption("Agent's model");
  await sendAndWait(page, "which soup is there");
  await answers.getByText("Leek soup.").first().waitFor();
  await page.goto(studio.url);
  await page.getByRole("button", { name: "Use the offline model" }).tap();
  await page.getByText("Offline model: rules, not AI.").waitFor();
});

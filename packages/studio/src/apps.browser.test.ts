import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { assertAccessible } from "./testing/accessibility.ts";
import { counterScript, createAppPage } from "./testing/app-page.ts";
import { setupAppStudio } from "./testing/app-studio.ts";
import { takePicture } from "./testing/browser.ts";
import { retryGesture, skipMisclickGuard } from "./testing/conversation-page.ts";
import { type Canary, startCanary } from "./testing/hostile/canary.ts";
import { createHostilePage, createPage, departures } from "./testing/hostile/hostile-app.ts";

const { setPage, listCalls, openApp } = setupAppStudio();

async function decide(page: Page, name: "Allow" | "Deny"): Promise<void> {
  const button = page.getByRole("button", { name, exact: true });
  await button.waitFor();
  await skipMisclickGuard(page);
  await button.click();
}

test("an app of an MCP server is shown in the chat, and its click calls a tool after the user's approval (A140)", async () => {
  setPage(createAppPage(counterScript));
  const { page, frame } = await openApp();
  await frame.getByText("The counter shows 0.").waitFor();
  await expect.poll(() => frame.locator("body").getAttribute("data-meta")).toBe("not for the model");
  await expect.poll(() => frame.locator("body").getAttribute("data-theme")).toBe("light");
  await page.getByText("no network access").waitFor();
  await frame.getByRole("button", { name: "Add 5" }).click();
  await page.getByText('An app of the MCP server "counter" wants to make this call.').waitFor();
  await takePicture(page, "app-approval-desktop-light");
  expect(listCalls()).toEqual(["show_counter 0"]);
  await decide(page, "Deny");
  await frame.getByText(/denied/i).waitFor();
  expect(listCalls()).toEqual(["show_counter 0"]);
  await frame.getByRole("button", { name: "Add 5" }).click();
  await decide(page, "Allow");
  await frame.getByText("Now 5.").waitFor();
  expect(listCalls()).toEqual(["show_counter 0", "add 5"]);
  await frame.getByRole("button", { name: "Peek" }).click();
  await frame.getByText("It is 5.").waitFor();
  await expect.poll(() => page.getByRole("article", { name: "Message from App of counter" }).count()).toBe(3);
  await expect.poll(() => page.locator("iframe").count()).toBe(1);
  await takePicture(page, "app-desktop-light");
  await assertAccessible(page);
});

test("an app can suggest a message and a link, and the user decides about both, on a phone in the dark", async () => {
  setPage(createAppPage(counterScript));
  const { page, frame } = await openApp({ size: "phone", theme: "dark" });
  await frame.getByText("The counter shows").waitFor();
  await expect.poll(() => frame.locator("body").getAttribute("data-theme")).toBe("dark");
  await frame.getByRole("button", { name: "Ask" }).click();
  const suggestion = page.getByRole("group", { name: "Message from the app" });
  await suggestion.getByText("How many now?").waitFor();
  await takePicture(page, "app-message-phone-dark");
  await suggestion.getByRole("button", { name: "Dismiss" }).click();
  await frame.getByText('{"isError":true}').waitFor();
  await expect.poll(() => page.getByRole("article", { name: "Your message" }).count()).toBe(1);
  await frame.getByRole("button", { name: "Ask" }).click();
  await skipMisclickGuard(page);
  // A click is ignored if the frame has just moved the button.
  await retryGesture(
    () => suggestion.getByRole("button", { name: "Send" }).click(),
    () => page.getByRole("article", { name: "Message from the application" }).waitFor({ timeout: 10_000 }),
  );
  const dialog = page.getByRole("dialog", { name: "Open this link?" });
  await retryGesture(
    () => frame.getByRole("button", { name: "Docs" }).click(),
    () => dialog.getByText("https://example.com/docs").waitFor({ timeout: 10_000 }),
  );
  await dialog.getByRole("button", { name: "Cancel" }).click();
});

describe("a hostile app", () => {
  let canary: Canary;
  beforeAll(async () => {
    canary = await startCanary();
  });
  afterAll(() => canary?.close());
  // The browser reports what it blocks.
  const expects = [/./];

  test("sends nothing, reads nothing of the studio, and has no effect without approval (A140)", async () => {
    setPage(createHostilePage(canary));
    const { page, frame } = await openApp({ expects });
    await page.evaluate(() => localStorage.setItem("secret", "of the studio"));
    const address = page.url();
    await frame.getByText(/^done/).waitFor();
    await expect
      .poll(() => frame.locator("#report").textContent())
      .toBe('done ["reset: The apps of the MCP server \\"counter\\" may not call \\"reset\\"."]');
    expect(canary.heard).toEqual([]);
    expect(page.url()).toBe(address);
    expect(page.context().pages()).toHaveLength(1);
    await page.getByText('An app of the MCP server "counter" wants to make this call.').waitFor();
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect(listCalls()).toEqual(["show_counter 0"]);
  });

  test("that floods the studio with messages is stopped (A140)", async () => {
    const code =
      'for (let id = 0; id < 5000; id++) parent.postMessage({ jsonrpc: "2.0", id, method: "ping" }, "*");';
    setPage(createPage(code, canary));
    const { page } = await openApp({ expects });
    await page.getByText("The app was stopped. It sent too many messages.").waitFor();
    await expect.poll(() => page.locator("iframe").count()).toBe(0);
    await page.getByRole("button", { name: "Start again" }).waitFor();
  });

  test.each(
    Object.entries(departures),
  )("that leaves its page by %s is stopped, and nothing arrives (A140)", async (_name, code) => {
    setPage(createPage(code, canary));
    const { page } = await openApp({ expects });
    await page.getByText("The app was stopped. It left its page.").waitFor();
    await expect.poll(() => page.locator("iframe").count()).toBe(0);
    expect(canary.heard).toEqual([]);
  });
});

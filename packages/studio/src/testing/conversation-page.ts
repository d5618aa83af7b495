import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** The message input with attachments, agent and model. */
export const getPrompt = (page: Page): Locator => page.locator("[data-prompt]");

export const getTranscript = (page: Page): Locator => page.getByRole("region", { name: "Conversation" });

/** Returns the call cards, optionally only those in a state. */
export const getCards = (page: Page, state?: string): Locator =>
  page.locator(state === undefined ? "[data-call]" : `[data-call][data-state=${state}]`);

export async function sendMessage(page: Page, text: string): Promise<void> {
  await getPrompt(page).fill(text);
  await getPrompt(page).press("Enter");
}

/** Sends a message and waits for the answer. Each text must be unique within a page. */
export async function sendAndWait(page: Page, text: string): Promise<void> {
  await sendMessage(page, text);
  await waitForMessage(page, text);
  await waitUntilIdle(page);
}

/** Waits until the message is shown. */
export async function waitForMessage(page: Page, text: string): Promise<void> {
  await page.getByRole("article", { name: "Your message" }).filter({ hasText: text }).waitFor();
}

/** Waits until no run is active. */
export const waitUntilIdle = (page: Page): Promise<void> =>
  page.getByRole("button", { name: "Send", exact: true }).waitFor();

/** Waits until no button moves, and lets the page's clock run so fast that decisions ignore no click after that. */
export const skipMisclickGuard = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    // Each reading is a second later, so that buttons have been still for a second even if they have just moved.
    let now = performance.now();
    performance.now = () => {
      now += 1000;
      return now;
    };
    let before = "";
    for (let still = 0; still < 20; still++) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const boxes = [...document.querySelectorAll("button")].map((button) => button.getBoundingClientRect());
      const places = JSON.stringify(boxes);
      if (places !== before) still = 0;
      before = places;
    }
  });

/** Stops the page's clock: whatever appears or moves from now on has just done so. `skipMisclickGuard` starts it again. */
export const stopClock = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const at = performance.now();
    performance.now = () => at;
  });

/** Repeats a gesture once if it had no effect, because dialogs react to input only after a moment. */
export async function retryGesture(
  gesture: () => Promise<void>,
  outcome: () => Promise<void>,
): Promise<void> {
  await gesture();
  await outcome().catch(async () => {
    await gesture();
    await outcome();
  });
}

/** Waits until the conversation has not scrolled for twenty frames, however long a frame takes. */
export const waitUntilStill = (page: Page): Promise<void> =>
  getTranscript(page).evaluate(async (scroller) => {
    let top = scroller.scrollTop;
    for (let still = 0; still < 20; still++) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      if (scroller.scrollTop !== top) still = 0;
      top = scroller.scrollTop;
    }
  });

/** Returns the accessible name of the focused element. */
export const getFocusedName = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element?.getAttribute("aria-label") ?? element?.textContent ?? "";
  });

/** Opens the focused menu and chooses an item. */
export async function chooseMenuItem(page: Page, item: string): Promise<void> {
  await page.keyboard.press("Enter");
  await page.getByRole("menu").waitFor();
  const moveDown = async () => {
    const current = await getFocusedName(page);
    if (current !== item) await page.keyboard.press("ArrowDown");
    return current;
  };
  await expect.poll(moveDown).toBe(item);
  await page.keyboard.press("Enter");
}

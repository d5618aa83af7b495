import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** Where a person writes. */
export const prompt = (page: Page): Locator => page.locator("[data-prompt]");

/** The whole conversation as a person reads it. */
export const transcript = (page: Page): Locator => page.getByRole("region", { name: "Conversation" });

/** The cards of calls, of those in this state alone where it is given. */
export const cards = (page: Page, state?: string): Locator =>
  page.locator(state === undefined ? "[data-call]" : `[data-call][data-state=${state}]`);

export async function say(page: Page, text: string): Promise<void> {
  await prompt(page).fill(text);
  await prompt(page).press("Enter");
}

/** Says it, and waits until it is heard and answered. A page is told every sentence once. */
export async function ask(page: Page, text: string): Promise<void> {
  await say(page, text);
  await heard(page, text);
  await rest(page);
}

/** Until the run that the sentence began is shown. */
export async function heard(page: Page, text: string): Promise<void> {
  await page.getByRole("article", { name: "You say" }).filter({ hasText: text }).waitFor();
}

/** Until nothing runs and nothing waits. */
export const rest = (page: Page): Promise<void> => page.getByRole("button", { name: "Send" }).waitFor();

/** An approval does not heed a click in its first half second: lets the page believe that it has passed. */
export const settle = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + 1000;
  });

/** A dialog hears keys and clicks only a moment after it is seen, or is gone: what came too early is done once more. */
export async function untilHeard(gesture: () => Promise<void>, outcome: () => Promise<void>): Promise<void> {
  await gesture();
  await outcome().catch(async () => {
    await gesture();
    await outcome();
  });
}

/** Waits until the conversation has not scrolled for twenty frames, however long a frame takes. */
export const untilStill = (page: Page): Promise<void> =>
  transcript(page).evaluate(async (scroller) => {
    let top = scroller.scrollTop;
    for (let still = 0; still < 20; still++) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      if (scroller.scrollTop !== top) still = 0;
      top = scroller.scrollTop;
    }
  });

/** What has the focus, by its name. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const one = document.activeElement;
    return one?.getAttribute("aria-label") ?? one?.textContent ?? "";
  });

/** Opens the menu that has the focus, and chooses in it. */
export async function choose(page: Page, item: string): Promise<void> {
  await page.keyboard.press("Enter");
  await page.getByRole("menu").waitFor();
  const down = async () => {
    const at = await focused(page);
    if (at !== item) await page.keyboard.press("ArrowDown");
    return at;
  };
  await expect.poll(down).toBe(item);
  await page.keyboard.press("Enter");
}

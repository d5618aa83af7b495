import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Lists what axe finds in the page, or in the part that a selector names. Frames are not looked into. */
export async function findViolations(page: Page, part?: string): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  return page.evaluate(runAxe, part);
}

/** Runs in the page. */
async function runAxe(part: string | undefined): Promise<readonly string[]> {
  const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
  const { violations } = await run(part ?? document, { resultTypes: ["violations"], iframes: false });
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`,
  );
}

/** Changes the theme of the browser, and resolves when the last color of the page has changed. */
export async function changeTheme(page: Page, theme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  await page.evaluate(async (value) => {
    const waitForFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    while (document.documentElement.dataset.theme !== value) await waitForFrame();
    await Promise.all(document.getAnimations().map((each) => each.finished.catch(() => undefined)));
    await waitForFrame();
    await waitForFrame();
  }, theme);
}

/** Nothing keeps people out, and nothing is wider than the window. */
export async function assertAccessible(page: Page, part?: string): Promise<void> {
  await page.waitForFunction(isStill);
  expect(await findViolations(page, part)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
}

/** Runs in the page. What turns for ever, such as the sign of work in progress, does not count. */
const isStill = () =>
  document
    .getAnimations()
    .every(({ playState, effect }) => playState !== "running" || effect?.getTiming().iterations === Infinity);

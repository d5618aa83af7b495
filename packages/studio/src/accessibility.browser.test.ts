import { createClient } from "capstan/client";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { findViolations } from "./testing/accessibility.ts";
import { setupStudio } from "./testing/browser.ts";
import { listDemoViews } from "./testing/demo/demo-views.ts";
import { createDemoWorld } from "./testing/demo/demo-world.ts";
import { sizes } from "./testing/launch-browser.ts";

const demo = await createDemoWorld();
const studio = setupStudio(() => demo.options);

/** Each of these is a layout of its own; the others, with CAPSTAN_LONG, add little. Widgets have a test of their own. */
const looked = {
  desktop:
    /^(?:new-chat|chat-source|tool-open|approval|limit|inspector-.*|replay|compare|palette|help|runs|dataset|experiment|sessions|agents|mcp|models|admin|settings)$/,
  phone: /^(?:new-chat|approval|inspector-timeline|replay|compare|sessions|list)$/,
};
const isLong = process.env.CAPSTAN_LONG === "1";
const views = listDemoViews(demo);

/** Pages are loaded once and looked at in both widths; what is open in a conversation differs between them. */
const isPage = /^(?:runs|dataset|experiment|agents|mcp|models|admin|settings)$/;

type Look = { readonly theme: "dark" | "light"; readonly width: keyof typeof sizes };
type LookedView = { readonly at: number; readonly name: string };

/** Colors go by names: when every other view is looked at in each theme, and a page in one theme per width, all of them are. */
function chooseLooks(size: Look["width"], { at, name }: LookedView): readonly Look[] {
  const widths: readonly Look["width"][] = isPage.test(name) ? ["desktop", "phone"] : [size];
  return widths.flatMap((width, index): Look[] =>
    isLong
      ? [
          { theme: "dark", width },
          { theme: "light", width },
        ]
      : [{ theme: (at + index) % 2 === 0 ? "dark" : "light", width }],
  );
}

/** Resolves when the last color has changed. */
function changeTheme(page: Page, theme: Look["theme"]): Promise<void> {
  return page.evaluate(async (value) => {
    document.documentElement.setAttribute("data-theme", value);
    await Promise.all(document.getAnimations().map((each) => each.finished.catch(() => undefined)));
    await new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
  }, theme);
}

test.each([
  ["conversation", "desktop"],
  ["conversation", "phone"],
  ["page", "desktop"],
] as const)(
  "axe finds nothing wrong with a %s, in both themes, at the size of a %s",
  async (kind, size) => {
    const page = await studio.open("/", { size });
    await page.emulateMedia({ reducedMotion: "reduce" });
    const faults: string[] = [];
    for (const [at, { name, path, prepare }] of views.entries()) {
      if (isPage.test(name) !== (kind === "page")) continue;
      if (!isLong && !looked[size].test(name)) continue;
      await page.goto(studio.url + path);
      await prepare(page, size);
      // The list hides entries until it has measured them, and what is hidden has no name.
      await page.waitForFunction(() => !document.querySelector('[style*="visibility: hidden"]'));
      // Part of the page behind a dialog may still be loading; its note fades in.
      await page.waitForFunction(() => !document.querySelector('[role="status"] .animate-spin'));
      for (const { theme, width } of chooseLooks(size, { at, name })) {
        await page.setViewportSize(sizes[width]);
        await changeTheme(page, theme);
        faults.push(...(await findViolations(page)).map((fault) => `${name}, ${width}, ${theme}: ${fault}`));
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wide > 0) faults.push(`${name}, ${width}: ${wide} pixels too wide`);
      }
      await page.setViewportSize(sizes[size]);
    }
    expect(faults).toEqual([]);
  },
  180_000,
);

test("a browser language that is not a language tag breaks no chart and no number", async () => {
  const page = await studio.open("/");
  await page.addInitScript(() => {
    Object.defineProperty(Navigator.prototype, "language", { get: () => "en-US@posix" });
    Object.defineProperty(Navigator.prototype, "languages", { get: () => ["en-US@posix"] });
  });
  const view = views.find(({ name }) => name === "widget-chart");
  await page.goto(studio.url + view?.path);
  await page.locator(".uplot canvas").first().waitFor();
  const chart = page.getByRole("application", { name: /chart of/ }).first();
  await chart.press("ArrowRight");
  await page.getByRole("button", { name: /\d/, pressed: true }).first().waitFor();
  await expect.poll(() => page.getByText("failed to render").count()).toBe(0);
});

/** Lists what is smaller. Links and marks within text, and the bars of the timeline, which is also a table, are exempt. */
function findSmallTargets(): readonly string[] {
  const targets = document.querySelectorAll<HTMLElement>(
    "button, select, summary, [role=tab], [role=menuitem], input:not([type=checkbox], [type=file]), nav a",
  );
  return [...targets].flatMap((target) => {
    const { width, height, right, bottom } = target.getBoundingClientRect();
    const isVisible = width > 1 && height > 1 && right > 0 && bottom > 0 && target.checkVisibility();
    const isInText = target.closest("p, li p, td, [data-bar], li > button.text-left") !== null;
    const after = getComputedStyle(target, "::after");
    const isStretched = after.position === "absolute" && after.content !== "none";
    if (!isVisible || isInText || isStretched || (width >= 43.5 && height >= 43.5)) return [];
    const label = target.getAttribute("aria-label") ?? target.textContent?.trim().slice(0, 40);
    return [`${target.tagName} ${label}: ${Math.round(width)} × ${Math.round(height)}`];
  });
}

const tappable =
  /^(?:new-chat|chat-answer|widget-(?:map|graph|table|chart)|inspector-timeline|sessions|list)$/;
const isCoarse = (page: Page) => page.evaluate(() => matchMedia("(pointer: coarse)").matches);

test("on a touch screen, everything to tap is at least 44 pixels large", async () => {
  const page = await studio.open("/", { size: "phone" });
  expect(await isCoarse(page)).toBe(true);
  const small: string[] = [];
  for (const { name, path, prepare } of views.filter((view) => tappable.test(view.name))) {
    await page.goto(studio.url + path);
    await prepare(page, "phone");
    small.push(...(await page.evaluate(findSmallTargets)).map((target) => `${name}: ${target}`));
  }
  expect([...new Set(small)]).toEqual([]);
});

test("the list shows the app of each session, which of them wait, and branches below their session", async () => {
  const client = createClient({ baseURL: studio.url });
  const { sessions } = await client.sessions.listPage({ details: true });
  const origin = sessions.find(({ agent }) => agent === "airport");
  const fork = await client.sessions.fork(origin?.id ?? "", origin?.facts ?? 0, { title: "Another way" });
  const page = await studio.open("/");
  const branches = page.getByRole("list", { name: `Branches of ${origin?.title}` });
  await branches.getByRole("link", { name: "Another way" }).click();
  await page.waitForURL(`**/sessions/${fork.id}`);
  const list = page.getByRole("navigation", { name: "Sessions" });
  await list.getByRole("img", { name: "Waiting for you" }).first().waitFor();
  const row = list
    .getByRole("listitem")
    .filter({ has: page.getByRole("link", { name: origin?.title ?? "" }) });
  await expect.poll(() => row.first().locator("[data-picture=map]").count()).toBe(1);
  await page.close(); // it may still be loading the session
  await client.sessions.remove(fork.id);
});

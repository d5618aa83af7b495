import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { assertAccessible } from "../testing/accessibility.ts";
import { openContext } from "../testing/launch-browser.ts";

const studio = join(import.meta.dirname, "../..");
const pictures = process.env.CAPSTAN_PICTURES;
const types: { readonly [extension: string]: string } = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

let folder: string;
let server: Server;
let origin: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "capstan-widgets-"));
  const input = join(import.meta.dirname, "widgets-fixture.html");
  await build({
    root: studio,
    configFile: join(studio, "vite.config.ts"),
    build: { outDir: folder, emptyOutDir: true, minify: false, rollupOptions: { input } },
    logLevel: "error",
  });
  server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const file = path === "/" ? "src/widgets/widgets-fixture.html" : path;
    response.setHeader("content-type", types[extname(file)] ?? "text/plain");
    // No wall of a policy here: the test is that nothing is asked for at all.
    try {
      response.end(readFileSync(join(folder, file)));
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await Promise.all([...fixturePages.values()].map(({ page }) => page.context().close()));
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

type Opened = { readonly page: Page; readonly problems: string[] };

/** Pages that the tests use one after another, by width. */
const fixturePages = new Map<number, Opened>();

/** What leaves the origin is stopped and told, as is every error of the page. */
async function openFixture(query: string, width = 1440): Promise<Opened> {
  const fixturePage = fixturePages.get(width) ?? (await createFixturePage(width));
  fixturePages.set(width, fixturePage);
  const { page, problems } = fixturePage;
  await page.goto("about:blank");
  await page.mouse.move(0, 0);
  problems.length = 0; // of the test before
  await page.goto(`${origin}/?${query}`);
  return fixturePage;
}

async function createFixturePage(width: number): Promise<Opened> {
  const context = await openContext({
    viewport: { width, height: 900 },
    hasTouch: width < 500,
    locale: "en-GB",
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await context.route("**/*", async (route) => {
    const url = new URL(route.request().url());
    if (url.origin === origin || url.protocol === "blob:" || url.protocol === "data:")
      return route.continue();
    problems.push(`left for ${url.href}`);
    return route.abort();
  });
  return { page, problems };
}

const captions = [
  "Harbor International (fictional)",
  "Pets",
  "Waiting time at the checkpoint",
  "Passengers",
  "Departures",
  "src/example.py",
  "Passages found",
];

async function waitUntilDrawn(page: Page): Promise<void> {
  for (const name of captions) await page.getByRole("figure", { name }).waitFor();
  const graph = page.getByRole("figure", { name: "Pets" });
  await graph.scrollIntoViewIfNeeded();
  await graph.locator("svg text").first().waitFor();
  await page.getByRole("figure", { name: "Passengers" }).locator("canvas").first().waitFor();
  await page.locator("pre .text-accent").first().waitFor();
}

describe("the widgets, in a real browser", () => {
  it.each([
    ["light", 1440],
    ["dark", 390],
    // Nothing new to find, only to look at.
    ...(pictures === undefined
      ? []
      : ([
          ["dark", 1440],
          ["light", 390],
        ] as const)),
  ] as const)("draw everything in the %s theme at %i, without a request to anywhere, an error or a serious fault of access", async (theme, width) => {
    const { page, problems } = await openFixture(`theme=${theme}`, width);
    await waitUntilDrawn(page);
    if (pictures !== undefined) {
      mkdirSync(pictures, { recursive: true });
      await page.screenshot({ path: join(pictures, `widgets-${theme}-${width}.png`), fullPage: true });
    }
    await assertAccessible(page);
    expect(problems).toEqual([]);
  });

  it.each([
    1440, 390,
  ])("draw a graph whose labels do not collide and that fills its place, at %i", async (width) => {
    const { page, problems } = await openFixture("theme=light", width);
    await waitUntilDrawn(page);
    const graph = page.getByRole("figure", { name: "Pets" });
    const boxes = await graph.locator("svg text").evaluateAll((all) =>
      all.map((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return { text: text.textContent, left, right, top: top + 1, bottom: bottom - 1 };
      }),
    );
    expect(boxes.length).toBeGreaterThan(10);
    const collisions = boxes.flatMap((one, index) =>
      boxes
        .slice(index + 1)
        .filter((other) => one.left < other.right && one.right > other.left)
        .filter((other) => one.top < other.bottom && one.bottom > other.top)
        .map((other) => `${one.text} and ${other.text}`),
    );
    expect(collisions).toEqual([]);
    const drawing = await graph.getByRole("application").boundingBox();
    const used = Math.max(...boxes.map(({ bottom }) => bottom)) - Math.min(...boxes.map(({ top }) => top));
    expect(used / (drawing?.height ?? 1)).toBeGreaterThan(0.7);
    expect(problems).toEqual([]);
  });

  it("show where a region hides more, keep the head of a table in sight, and scroll by keyboard", async () => {
    const { page, problems } = await openFixture("theme=light", 390);
    await waitUntilDrawn(page);
    const rows = page.getByRole("figure", { name: "Departures" }).getByRole("region", { name: "Rows" });
    await rows.scrollIntoViewIfNeeded();
    await expect.poll(() => rows.getAttribute("data-more")).toBe("right bottom");
    expect(await rows.evaluate((one) => getComputedStyle(one).maskImage)).toContain("gradient");
    const head = rows.getByRole("columnheader").first();
    const top = (await head.boundingBox())?.y;
    await rows.evaluate((one) => one.scrollTo(one.scrollWidth, 400));
    await expect.poll(() => rows.getAttribute("data-more")).toBe("left bottom");
    expect((await head.boundingBox())?.y).toBe(top);
    await rows.focus();
    await page.keyboard.press("End");
    await expect.poll(() => rows.getAttribute("data-more")).toBe("left");
    expect(problems).toEqual([]);
  });

  it("render passages that are Markdown, and highlight what is cited across its elements", async () => {
    const { page, problems } = await openFixture("theme=light");
    await waitUntilDrawn(page);
    const passage = page.getByRole("group", { name: "Passage from Handbook" });
    await passage.getByRole("heading", { name: "Travel" }).waitFor();
    await passage.getByRole("link", { name: "rules" }).first().waitFor();
    await expect.poll(() => passage.innerText()).not.toMatch(/[`*#]/);
    expect(await passage.evaluate((one) => one.tabIndex === 0 && one.scrollHeight > one.clientHeight)).toBe(
      true,
    );
    const highlighted = await page.evaluate(() =>
      [...(CSS.highlights.get("cited") ?? [])].map((range) => String(range)),
    );
    expect(new Set(highlighted)).toEqual(new Set(["Book with trips, two weeks ahead."]));
    expect(problems).toEqual([]);
  });

  it("load and run nothing from hostile text, names and props (A64, A65, A66, A68, A69, A74)", async () => {
    const { page, problems } = await openFixture("hostile");
    await page.getByRole("figure").nth(8).waitFor();
    await page.getByRole("figure").locator(".uplot canvas").first().waitFor({ state: "attached" });
    for (const summary of await page.locator("summary").all()) await summary.click();
    expect(await page.title()).toBe("Widgets");
    expect(
      await page
        .locator("main script, main img, main iframe, main base, main meta, main style, main svg image")
        .count(),
    ).toBe(0);
    const links = await page
      .locator("a")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
    expect(links.filter((link) => !/^(?:https?|mailto):/.test(link))).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("work by keyboard alone", async () => {
    const { page, problems } = await openFixture("theme=light");
    await waitUntilDrawn(page);

    const map = page.getByRole("application", { name: /Map of Level 1/ });
    await map.focus();
    await map.press("+");
    await map.press("ArrowRight");
    await expect.poll(() => map.locator("g").first().getAttribute("transform")).toContain("scale(1.4)");
    await page.getByRole("button", { name: "Level 2" }).press("Enter");
    await page.getByText("Restaurant").waitFor();

    const chart = page.getByRole("application", { name: /Waiting time/ });
    await chart.focus();
    await chart.press("ArrowRight");
    await page.getByRole("button", { name: "Today 14 min" }).waitFor();

    await page.getByRole("button", { name: "Minutes late" }).press("Enter");
    await page.getByRole("button", { name: "Minutes late" }).press("Enter");
    await expect
      .poll(() => page.getByRole("columnheader", { name: "Minutes late" }).getAttribute("aria-sort"))
      .toBe("descending");
    const figure = page.getByRole("figure", { name: "Departures" });
    await expect.poll(() => figure.getByRole("row").nth(1).textContent()).toContain("89");
    await expect.poll(() => figure.getByRole("row").count()).toBeLessThan(60);
    await page.getByRole("searchbox", { name: "Filter rows" }).fill("HA 4999");
    await page.getByText("1 of 5,000 rows").waitFor();
    await expect.poll(() => figure.getByRole("row").nth(1).textContent()).toContain("HA 4999");

    await page.getByRole("button", { name: "Side by side" }).first().press("Enter");
    await page.getByText("Changed lines, before and after").waitFor({ state: "attached" });

    const chip = page.getByRole("button", { name: "Source 1: Budget 2026" }).first();
    await chip.focus();
    await page.getByRole("dialog").getByText("of which 2 are for travel").waitFor();
    await chip.press("Enter");
    expect(await page.title()).toBe("cited 1");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(problems).toEqual([]);
  });
});

describe("maths, diagrams and images in Markdown", () => {
  it.each([
    ["light", 1440],
    ["dark", 390],
  ] as const)("are shown, and loaded only for a text that has them, in the %s theme at %i", async (theme, width) => {
    const { page, problems } = await openFixture(`text=rich&theme=${theme}`, width);
    await expect.poll(() => page.locator("math").count()).toBe(3);
    await page.locator("math mfrac").first().waitFor();
    await expect.poll(() => page.locator("math[display=block] munderover").count()).toBe(1);
    await page.getByText("tickets cost $5 or $10.").waitFor();
    const diagram = page.getByRole("figure", { name: "Diagram" }).getByRole("img");
    await diagram.waitFor();
    await expect.poll(() => diagram.getAttribute("src")).toMatch(/^blob:/);
    await expect
      .poll(() => diagram.evaluate((one: HTMLImageElement) => one.naturalWidth))
      .toBeGreaterThan(100);
    const square = page.getByRole("img", { name: "a white square" });
    await expect.poll(() => square.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(8);
    await page.getByRole("link", { name: "Image: a remote one" }).waitFor();
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `rich-${theme}-${width}.png`) });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await assertAccessible(page);
    const listScripts = () =>
      page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
    const loaded = (await listScripts()).filter((name) => /temml|mermaid/.test(name));
    expect(loaded.length).toBeGreaterThanOrEqual(2);
    await page.goto(`${origin}/?theme=light`);
    await waitUntilDrawn(page);
    expect((await listScripts()).filter((name) => /temml|mermaid/.test(name))).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("run, load and follow nothing, and stay code when they are invalid, too large or endless (A64, A65, A66, A72)", async () => {
    const { page, problems } = await openFixture("text=hostile-rich");
    await page.getByText("The end.").waitFor();
    // Drawn: the first diagram, without what it asked for.
    const diagram = page.getByRole("figure", { name: "Diagram" });
    await diagram.getByRole("img").waitFor();
    await expect.poll(() => diagram.count()).toBe(1);
    await expect.poll(() => page.locator("pre").count()).toBeGreaterThanOrEqual(2);
    expect(await page.evaluate(() => "__canary" in window)).toBe(false);
    const parts =
      "main :is(script, iframe, foreignObject, image, style), math :is(a, img), math [style], math [href]";
    await expect.poll(() => page.locator(parts).count()).toBe(0);
    const sources = await page.locator("img").evaluateAll((all) => all.map((one) => one.getAttribute("src")));
    expect(sources.filter((source) => !source?.startsWith("blob:"))).toEqual([]);
    const drawn = await diagram.getByRole("img").evaluate(async (one: HTMLImageElement) => {
      const text = await (await fetch(one.src)).text();
      return text;
    });
    expect(drawn).not.toMatch(/<script|onerror=|javascript:|evil\.example\/c/);
    expect(problems).toEqual([]);
  });
});

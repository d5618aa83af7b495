// `npm run screenshots`: a picture of every view, for the docs. With `-- --all <folder>`: each of them in both themes and
// at both widths, to look at. `--only <pattern>` makes those whose names match.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createServer, listen } from "@capstan/server";
import { studioFolder } from "@capstan/studio";
import type { Browser, Page } from "playwright-core";
import { withBuiltStudio } from "../packages/studio/src/testing/build-studio.ts";
import { type DemoView, listDemoViews } from "../packages/studio/src/testing/demo/demo-views.ts";
import { createDemoWorld, demoNow } from "../packages/studio/src/testing/demo/demo-world.ts";
import { launchBrowser, sizes } from "../packages/studio/src/testing/launch-browser.ts";
import { createAppWorld } from "./app-views.ts";

const { values } = parseArgs({ options: { all: { type: "string" }, only: { type: "string" } } });
const folder = values.all ?? join(import.meta.dirname, "../docs/pictures");
/** Smaller than a desk, so that a page of documentation does not shrink it much. */
const docsSize = { width: 1280, height: 800 };
/** What a page of documentation can carry. */
const mostBytes = 180_000;

type Look = { readonly theme: "light" | "dark"; readonly size: keyof typeof sizes };
const everyLook: readonly Look[] = [
  { theme: "light", size: "desktop" },
  { theme: "dark", size: "desktop" },
  { theme: "light", size: "phone" },
  { theme: "dark", size: "phone" },
];

async function takeScreenshot(browser: Browser, url: string, shot: DemoView & Look): Promise<string> {
  const { name, theme, size, path, prepare, part } = shot;
  const context = await browser.newContext({
    viewport: values.all === undefined && size === "desktop" ? docsSize : sizes[size],
    colorScheme: theme,
    isMobile: size === "phone",
    hasTouch: size === "phone",
    reducedMotion: "reduce",
    timezoneId: "UTC",
    locale: "en-GB",
  });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(6_000);
    await page.clock.setFixedTime(demoNow);
    await page.goto(url + path);
    await prepare(page, size);
    await waitUntilSettled(page);
    const look = `${size === "phone" ? "-phone" : ""}${theme === "dark" ? "-dark" : ""}`;
    const file = join(folder, `${name}${look}.png`);
    const shown = part === undefined || values.all !== undefined ? page : page.locator(part);
    await shown.screenshot({ path: file, animations: "disabled", caret: "hide", timeout: 20_000 });
    const { size: bytes } = statSync(file);
    return `${name}${look} ${Math.round(bytes / 1000)} kB${bytes > mostBytes ? " TOO LARGE" : ""}`;
  } finally {
    await context.close();
  }
}

/** When everything is loaded and nothing has moved for a moment. */
async function waitUntilSettled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready;
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  });
  await page.waitForTimeout(400);
}

const demo = await createDemoWorld();
const apps = await createAppWorld();
const worlds = [
  { options: demo.options, views: async () => listDemoViews(demo) },
  { options: apps.options, views: apps.views },
];
const browser = await launchBrowser();
mkdirSync(folder, { recursive: true });
let failed = 0;
for (const { options, views } of worlds) {
  const server = await withBuiltStudio(() => createServer({ ...options, studio: { folder: studioFolder } }));
  const listening = await listen(server, { port: 0 });
  for (const view of await views(listening.url)) {
    if (!new RegExp(values.only ?? "").test(view.name)) continue;
    for (const look of values.all === undefined ? view.variants : everyLook) {
      const word = await takeScreenshot(browser, listening.url, { ...view, ...look }).catch(
        (thrown: unknown) => {
          failed++;
          return `${view.name} failed: ${String(thrown).slice(0, 300)}`;
        },
      );
      process.stdout.write(`${word}\n`);
    }
  }
  await listening.close(500);
}
await browser.close();
await apps.close();
process.exit(failed > 0 ? 1 : 0);

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createServer, type ListeningServer, listen, type Server, type ServerOptions } from "@capstan/server";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { studioFolder } from "../index.ts";
import { withBuiltStudio } from "./build-studio.ts";
import { launchBrowser, sizes } from "./launch-browser.ts";

/** How a page is looked at. */
export type Look = {
  readonly size?: "desktop" | "phone";
  readonly theme?: "light" | "dark";
  /** Words of problems that the test brings about on purpose. */
  readonly expects?: readonly RegExp[];
  /** Another server than the one of the test file. */
  readonly url?: string;
  /** A second tab of the same browser. */
  readonly beside?: Page;
};

/** The studio of a test file, in a real browser. */
export interface StudioUnderTest {
  readonly url: string;
  readonly server: Server;
  /** Opens a page. What goes wrong in it, and what it asks of another origin, fails the test. */
  open(path?: string, look?: Look): Promise<Page>;
}

export { launchBrowser };

/** For the top of a test file: a server with these agents and a browser, for all its tests. */
export function studioFor(options: () => ServerOptions): StudioUnderTest {
  let browser: Browser;
  let server: Server;
  let listening: ListeningServer;
  const contexts = new Set<BrowserContext>();
  const problems: string[] = [];

  beforeAll(async () => {
    server = await withBuiltStudio(() => createServer({ studio: { folder: studioFolder }, ...options() }));
    [listening, browser] = await Promise.all([listen(server, { port: 0 }), launchBrowser()]);
  });
  afterEach(async () => {
    await Promise.all([...contexts].map((context) => context.close()));
    contexts.clear();
    const found = problems.splice(0);
    if (found.length > 0) throw new Error(`The page had problems:\n${found.join("\n")}`);
  });
  afterAll(async () => {
    await Promise.all([browser?.close(), listening?.close(500)]);
  });

  return {
    get url() {
      return listening.url;
    },
    get server() {
      return server;
    },
    async open(path = "/", look = {}) {
      const { size = "desktop", theme = "light", expects = [], url = listening.url, beside } = look;
      const context =
        beside?.context() ??
        (await browser.newContext({
          viewport: sizes[size],
          colorScheme: theme,
          isMobile: size === "phone",
          hasTouch: size === "phone",
          serviceWorkers: "block",
          locale: "en-GB",
        }));
      contexts.add(context);
      const page = await context.newPage();
      page.setDefaultTimeout(30_000);
      watch(page, url, (problem) => {
        if (!expects.some((expected) => expected.test(problem))) problems.push(problem);
      });
      await page.goto(new URL(path, url).href);
      return page;
    },
  };
}

function watch(page: Page, url: string, report: (problem: string) => void): void {
  const { origin } = new URL(url);
  page.on("console", (message) => {
    if (message.type() === "error") report(`console: ${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => report(`page: ${error.stack ?? error.message}`));
  page.on("crash", () => report("The page has crashed."));
  page.on("request", (request) => {
    const asked = request.url();
    if (!/^(?:data|blob):/.test(asked) && new URL(asked).origin !== origin) report(`left for ${asked}`);
  });
}

/** A picture of the page, in the folder of `CAPSTAN_PICTURES`; nowhere when that is not set. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.CAPSTAN_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

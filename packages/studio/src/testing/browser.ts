import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createServer, type ListeningServer, listen, type Server, type ServerOptions } from "@capstan/server";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { studioFolder } from "../index.ts";
import { withBuiltStudio } from "./build-studio.ts";
import { openContext, sizes } from "./launch-browser.ts";

/** Options of a test page. */
export type PageOptions = {
  readonly size?: "desktop" | "phone";
  readonly theme?: "light" | "dark";
  /** Problems that the test causes on purpose. */
  readonly expects?: readonly RegExp[];
  /** Uses another server than the test file's. */
  readonly url?: string;
  /** Opens a second tab in this page's context. */
  readonly beside?: Page;
};

/** The studio in a real browser, shared by a test file. */
export interface StudioUnderTest {
  readonly url: string;
  readonly server: Server;
  /** Opens a page. Errors in the page and requests to other origins fail the test. */
  open(path?: string, options?: PageOptions): Promise<Page>;
}

/** Registers hooks that start a server for a test file, and close its pages after each test. */
export function setupStudio(options: () => ServerOptions): StudioUnderTest {
  let server: Server;
  let listening: ListeningServer;
  const contexts = new Set<BrowserContext>();
  const problems: string[] = [];

  beforeAll(async () => {
    server = await withBuiltStudio(() => createServer({ studio: { folder: studioFolder }, ...options() }));
    listening = await listen(server, { port: 0 });
  });
  afterEach(async () => {
    await Promise.all([...contexts].map((context) => context.close()));
    contexts.clear();
    const reported = problems.splice(0);
    if (reported.length > 0) throw new Error(`The page had problems:\n${reported.join("\n")}`);
  });
  afterAll(async () => {
    await listening?.close(500);
  });

  return {
    get url() {
      return listening.url;
    },
    get server() {
      return server;
    },
    async open(path = "/", pageOptions = {}) {
      const { size = "desktop", theme = "light", expects = [], url = listening.url, beside } = pageOptions;
      const context =
        beside?.context() ??
        (await openContext({
          viewport: sizes[size],
          colorScheme: theme,
          isMobile: size === "phone",
          hasTouch: size === "phone",
          serviceWorkers: "block",
          locale: "en-GB",
        }));
      contexts.add(context);
      const page = await context.newPage();
      watchPage(page, url, (problem) => {
        if (!expects.some((expected) => expected.test(problem))) problems.push(problem);
      });
      await page.goto(new URL(path, url).href);
      return page;
    },
  };
}

function watchPage(page: Page, url: string, report: (problem: string) => void): void {
  const { origin } = new URL(url);
  page.on("console", (message) => {
    if (message.type() === "error") report(`console: ${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => report(`page: ${error.stack ?? error.message}`));
  page.on("crash", () => report("The page has crashed."));
  page.on("request", (request) => {
    const requestedUrl = request.url();
    if (!/^(?:data|blob):/.test(requestedUrl) && new URL(requestedUrl).origin !== origin)
      report(`left for ${requestedUrl}`);
  });
}

/** Saves a screenshot to the folder in `CAPSTAN_PICTURES`, if set. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env.CAPSTAN_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import packed from "@sparticuz/chromium";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";

/** Viewport sizes that every page must support. */
export const sizes = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;

/** Flags that disable browser security, let one crash close all pages, or start every process from nothing, or that Playwright sets itself. */
const removedArgs =
  /^--(?:disable-web-security|single-process|no-zygote|allow-running-insecure-content|headless)(?:=|$)/;
/** Emulating a graphics API takes two thirds of the CPU time of a page. */
const emulationArgs = /gpu|angle|swiftshader/;

/** Starts headless Chromium, which draws without a graphics API. */
export async function launchBrowser(): Promise<Browser> {
  const args = packed.args.filter((arg) => !removedArgs.test(arg) && !emulationArgs.test(arg));
  return chromium.launch({ executablePath: await unpackBrowser(), args: [...args, "--disable-gpu"] });
}

/** Returns the path of the executable. Several processes may unpack it at the same time: each sees a whole file. */
async function unpackBrowser(): Promise<string> {
  const folder = join(dirname(createRequire(import.meta.url).resolve("@sparticuz/chromium")), "../bin");
  const executable = join(folder, "chromium");
  if (existsSync(executable)) return executable;
  const unfinished = `${executable}.${process.pid}`;
  await pipeline(
    createReadStream(join(folder, "chromium.br")),
    createBrotliDecompress(),
    createWriteStream(unfinished, { mode: 0o700 }),
  );
  await rename(unfinished, executable);
  return executable;
}

/** How long a test waits for a state of a page. It guards against hanging and says nothing about speed. */
export const waitMs = 180_000;

let sharedBrowser: Promise<Browser> | undefined;

/** Returns the browser that the test files of this process share. It ends with the process. */
async function openSharedBrowser(): Promise<Browser> {
  const browser = await sharedBrowser?.catch(() => undefined);
  if (browser?.isConnected()) return browser;
  sharedBrowser = launchBrowser();
  return sharedBrowser;
}

/** Opens a context in the shared browser. Every wait in it, also for navigation, has time. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await (await openSharedBrowser()).newContext(options);
  context.setDefaultTimeout(waitMs);
  return context;
}

import packed from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";

/** Viewport sizes that every page must support. */
export const sizes = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;

/** Flags that disable browser security, that let one crash close all pages, or that Playwright sets itself. */
const removedArgs =
  /^--(?:disable-web-security|single-process|allow-running-insecure-content|headless)(?:=|$)/;
/** Emulating a graphics API takes two thirds of the CPU time of a page. */
const emulationArgs = /gpu|angle|swiftshader/;

/** Starts headless Chromium, which draws without a graphics API. */
export async function launchBrowser(): Promise<Browser> {
  const args = packed.args.filter((arg) => !removedArgs.test(arg) && !emulationArgs.test(arg));
  return chromium.launch({ executablePath: await packed.executablePath(), args: [...args, "--disable-gpu"] });
}

let sharedBrowser: Promise<Browser> | undefined;

/** Returns the browser that the test files of this process share. It ends with the process. */
export async function openSharedBrowser(): Promise<Browser> {
  const browser = await sharedBrowser;
  if (browser?.isConnected()) return browser;
  sharedBrowser = launchBrowser();
  return sharedBrowser;
}

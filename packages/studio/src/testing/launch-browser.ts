import packed from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";

/** Viewport sizes that every page must support. */
export const sizes = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;

/** Flags that disable browser security, or that let one crash close all pages. */
const removedArgs = ["--disable-web-security", "--single-process", "--allow-running-insecure-content"];

/** Starts headless Chromium. */
export async function launchBrowser(): Promise<Browser> {
  const args = packed.args.filter((arg) => !removedArgs.includes(arg) && !arg.startsWith("--headless"));
  return chromium.launch({ executablePath: await packed.executablePath(), args });
}

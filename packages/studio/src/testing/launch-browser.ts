import packed from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";

/** The two widths that everything must look right at. */
export const sizes = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;

/** Not those that would hide what a real browser refuses, nor the one that lets all pages die together. */
const unwanted = ["--disable-web-security", "--single-process", "--allow-running-insecure-content"];

/** Starts Chromium; it has no window. */
export async function launchBrowser(): Promise<Browser> {
  const args = packed.args.filter((arg) => !unwanted.includes(arg) && !arg.startsWith("--headless"));
  return chromium.launch({ executablePath: await packed.executablePath(), args });
}

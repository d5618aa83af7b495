import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { widgetPage } from "../index.ts";

const root = join(import.meta.dirname, "../..");
const vite = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin/vite.js");

/** Builds the page with the widgets and returns it. In a child process, like the studio. */
export async function buildWidgetPage(): Promise<string> {
  const args = [vite, "build", "--config", "vite.widgets.config.ts", "--logLevel", "error"];
  const env = { ...process.env, NODE_ENV: "production" };
  await promisify(execFile)(process.execPath, args, { cwd: root, env });
  return readFile(widgetPage, "utf8");
}

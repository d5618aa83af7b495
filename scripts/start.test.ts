import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { launchBrowser } from "../packages/studio/src/testing/launch-browser.ts";

/** The apps on the first screen. */
const apps = ["Airport", "Files", "Graph", "Knowledge", "MCP bridge"];

it("`npm start` opens a studio in which the five apps answer, without network access, and shuts down cleanly", async () => {
  const home = mkdtempSync(join(tmpdir(), "capstan-start-"));
  const resolvePath = (name: string) => join(import.meta.dirname, name);
  const flags = ["--conditions=capstan-source", resolvePath("start.ts")];
  const env = {
    PATH: process.env.PATH,
    CAPSTAN_HOME: home,
    NODE_OPTIONS: `--import=${resolvePath("block-network.ts")}`,
  };
  const child = spawn(process.execPath, [...flags, "--no-open", "--port", "0"], { env });
  const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const browser = await launchBrowser();
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const found = /studio +(http:\/\/\S+)/.exec(said)?.[1];
        if (found) resolve(found);
      });
      child.on("exit", () => reject(new Error(`It has left: ${said}`)));
    });
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => request.url().startsWith(url) || problems.push(request.url()));
    await page.goto(url);
    await page.getByText("Offline model: rules, not AI").waitFor();
    const cards = page.getByRole("region", { name: "Agents" });
    for (const app of apps) await cards.getByText(app, { exact: false }).first().waitFor();
    await cards.getByRole("listitem").first().getByRole("button").click();
    await page
      .getByRole("article", { name: /^Message from/ })
      .first()
      .waitFor();
    expect(problems).toEqual([]);
    const { servers } = await (await fetch(`${url}/api/mcp-servers`)).json();
    expect(servers).toMatchObject([{ name: "units" }, { name: "notes" }]);
  } finally {
    child.kill("SIGTERM");
    await browser.close();
  }
  expect(await exited).toBe(0);
  expect(said).not.toContain("Blocked network access");
  rmSync(home, { recursive: true });
});

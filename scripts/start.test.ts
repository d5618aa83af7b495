import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

it("`npm start` serves the studio, and leaves in order", { timeout: 120_000 }, async () => {
  const home = mkdtempSync(join(tmpdir(), "capstan-start-"));
  const program = join(import.meta.dirname, "start.ts");
  const flags = ["--conditions=capstan-source", program, "--no-open", "--port", "0"];
  const child = spawn(process.execPath, flags, { env: { PATH: process.env.PATH, CAPSTAN_HOME: home } });
  const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const found = /studio +(http:\/\/\S+)/.exec(said)?.[1];
        if (found) resolve(found);
      });
      child.on("exit", () => reject(new Error(`It has left: ${said}`)));
    });
    const page = await (await fetch(url)).text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1];
    expect((await fetch(`${url}${script}`)).headers.get("content-type")).toMatch(/javascript/);
    const about = await (await fetch(`${url}/api/about`)).json();
    expect(about).toMatchObject({ isOffline: true });
  } finally {
    child.kill("SIGTERM");
  }
  expect(await exited).toBe(0);
  rmSync(home, { recursive: true });
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import {
  callTestTool,
  findTool,
  isAlive,
  waitUntil,
  withFolder,
  withServers,
} from "./testing/test-servers.ts";

const script = fileURLToPath(new URL("./testing/small-server.sh", import.meta.url));
const count = process.env.CAPSTAN_LONG === "1" ? 50 : 20;

/** Every fifth hangs from the start on. */
const doesHang = (index: number) => index % 5 === 0;

function createServers(folder: string) {
  const entries = Array.from({ length: count }, (_, index) => {
    const hangs = doesHang(index);
    const args = [script, folder, hangs ? "hangs" : "answers"];
    return [`s${index}`, { command: "sh", args, startTimeout: hangs ? 2_000 : 60_000 }] as const;
  });
  return Object.fromEntries(entries);
}

/** Each server and its guard. */
const readPids = (folder: string) =>
  readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), "utf8").split(/\s+/).filter(Boolean).map(Number),
  );

it(`${count} servers at once, some of which hang: the others work, and close leaves no process (C44, F59, F67)`, () =>
  withFolder(async (folder) => {
    const pids = await withServers(createServers(folder), async (mcp) => {
      const states = mcp.status().map(({ state }) => state);
      expect(states.filter((state) => state === "ready")).toHaveLength(count - count / 5);
      for (const index of states.keys())
        expect(states[index] === "ready", `server ${index} is ${states[index]}`).toBe(!doesHang(index));
      const answers = await Promise.all(mcp.tools.map(({ name }) => callTestTool(findTool(mcp, name))));
      expect(answers).toEqual(mcp.tools.map(() => ({ content: "hello" })));
      return readPids(folder);
    });
    expect(pids.length).toBeGreaterThanOrEqual(2 * count);
    await waitUntil("all have ended", () => !readPids(folder).some(isAlive));
  }));

import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findPostgresFolder, type PostgresServer, startPostgres } from "../postgres/start-postgres.ts";
import { buildProgramArguments } from "../program-arguments.ts";

const program = join(import.meta.dirname, "rate-limit-process.ts");
const perMinute = 60;
const stepMs = 5_000;

type CallingProcess = {
  /** Lets time pass and tries some calls. Resolves when they are over, or the process is. */
  step(ms: number, onSent: () => void): Promise<void>;
  kill(): void;
};

function startProcess(url: string, start: number): CallingProcess {
  const child = spawn(
    process.execPath,
    [...buildProgramArguments(program), url, `${perMinute}`, `${start}`],
    { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, NODE_OPTIONS: "" } },
  );
  const lines = createInterface(child.stdout);
  const ended = new Promise<void>((resolve) => lines.once("close", resolve));
  child.stdin.on("error", () => undefined); // it was killed
  return {
    async step(ms, onSent) {
      const done = new Promise<void>((resolve) => {
        const onLine = (line: string) => {
          if (line === "sent") return onSent();
          lines.off("line", onLine);
          resolve();
        };
        lines.on("line", onLine);
      });
      child.stdin.write(`${ms}\n`);
      await Promise.race([done, ended]);
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

/** Returns the most calls in any minute. */
function findBusiest(sentAt: readonly number[]): number {
  return Math.max(...sentAt.map((start) => sentAt.filter((at) => at >= start && at < start + 60_000).length));
}

describe.skipIf(!findPostgresFolder())("two processes with one limit, on Postgres", () => {
  let server: PostgresServer;
  const processes = new Set<CallingProcess>();
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    for (const each of processes) each.kill();
    await server?.stop();
  });

  it("never exceed it together while one is killed in the middle of its calls, and the others go on", async () => {
    const sentAt: number[] = [];
    const first = startProcess(server.url, 0);
    const second = startProcess(server.url, 0);
    processes.add(first).add(second);
    let now = 0;
    const step = async (onSent?: (by: CallingProcess) => void) => {
      now += stepMs;
      const at = now;
      const record = (by: CallingProcess) => () => {
        sentAt.push(at);
        onSent?.(by);
      };
      await Promise.all([...processes].map((each) => each.step(stepMs, record(each))));
    };
    // Each process tries 96 calls per minute.
    for (let count = 0; count < 14; count++) await step();
    const countBefore = sentAt.length;
    let isKilled = false;
    for (let count = 0; count < 12 && !isKilled; count++)
      await step((by) => {
        if (by !== second) return;
        isKilled = true;
        second.kill();
      });
    expect(isKilled).toBe(true);
    processes.delete(second);
    processes.add(startProcess(server.url, now));
    for (let count = 0; count < 26; count++) await step();
    expect(findBusiest(sentAt)).toBeLessThanOrEqual(perMinute);
    expect(findBusiest(sentAt)).toBeGreaterThan(perMinute / 2);
    expect(countBefore).toBeGreaterThan(perMinute / 2);
    expect(sentAt.filter((at) => at > now - 60_000).length).toBeGreaterThan(perMinute / 2);
  });
});

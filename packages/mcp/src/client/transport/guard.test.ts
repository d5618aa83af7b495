import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  findStatus,
  getScript,
  hostileServer,
  isAlive,
  readProcesses,
  runCall,
  waitUntil,
  withFolder,
  withServers,
} from "../testing/test-servers.ts";

const source = "--conditions=capstan-source";
const areAllDead = (pids: readonly number[]) => () => !pids.some(isAlive);

it.concurrent.each([
  "family",
  "stubborn",
])("after close, no process of a server that is %s is alive: server, child or guard (F67, S4-47)", (manner) =>
  withFolder(async (folder) => {
    const file = join(folder, manner);
    const pids = await withServers({ one: hostileServer(manner, file) }, async () => {
      const started = await readProcesses(file);
      expect(started.every(isAlive)).toBe(true);
      return started;
    });
    expect(pids.filter(isAlive)).toEqual([]);
  }));

it.concurrent.each([
  "is killed",
  "exits without close",
  "dies of an exception",
])("when the program %s, its servers exit soon after (F67)", (end) =>
  withFolder(async (folder) => {
    const ends = { "is killed": "waits", "exits without close": "exits", "dies of an exception": "throws" };
    const host = spawn(
      process.execPath,
      [source, getScript("host-process"), ends[end as keyof typeof ends], folder],
      {
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    const gone = once(host, "exit");
    await once(host.stdout, "data");
    const pids = [
      ...(await readProcesses(join(folder, "family"))),
      ...(await readProcesses(join(folder, "stubborn"))),
    ];
    if (end === "is killed") host.kill("SIGKILL");
    await gone;
    await waitUntil("they have ended", areAllDead(pids));
  }));

it.concurrent("a killed guard takes its server with it, which is then restarted (F67, F58)", () =>
  withFolder(async (folder) => {
    const file = join(folder, "family");
    await withServers({ one: hostileServer("family", file) }, async (mcp) => {
      const [server, child, guard] = await readProcesses(file);
      process.kill(guard, "SIGKILL");
      await waitUntil("it has ended", areAllDead([server, child, guard]));
      await waitUntil(
        "it is back",
        () => findStatus(mcp, "one").state === "ready" && findStatus(mcp, "one").restarts === 1,
      );
      expect((await runCall(mcp, "mcp_one_echo", { said: "back" })).entry.content).toBe("back");
    });
  }));

it.concurrent("a child outside the group that keeps the pipes open does not delay close (F67)", () =>
  withFolder(async (folder) => {
    const file = join(folder, "daemon");
    const [server, child] = await withServers({ one: hostileServer("daemon", file) }, () =>
      readProcesses(file),
    );
    expect(isAlive(server)).toBe(false);
    expect(isAlive(child)).toBe(true);
    process.kill(child, "SIGKILL"); // it is out of reach for the guard, not for the test
  }));

it.concurrent("Ctrl-C in a terminal, which also reaches the guard, does not stop a server (F67)", () =>
  withFolder(async (folder) => {
    const file = join(folder, "family");
    await withServers({ one: hostileServer("family", file) }, async (mcp) => {
      const [server, , guard] = await readProcesses(file);
      process.kill(guard, "SIGINT");
      process.kill(guard, "SIGHUP");
      expect((await runCall(mcp, "mcp_one_pid")).entry.content).toBe(String(server));
      expect(findStatus(mcp, "one").restarts).toBe(0);
    });
  }));

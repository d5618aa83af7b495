import { run } from "capstan";
import { afterEach, expect, it, vi } from "vitest";
import type { McpTools } from "./mcp-tools.ts";
import {
  callTestTool,
  createCaller,
  findStatus,
  findTool,
  getFailure,
  getResultEntry,
  hostileServer,
  runCall,
  waitUntil,
  withServers,
} from "./testing/test-servers.ts";

afterEach(() => void vi.useRealTimers());

/** Only what the client itself waits by; processes and pipes go on as they are. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
}

const getState = (mcp: McpTools) => findStatus(mcp, "one").state;

it("a server that exits in mid-call: the call fails with a named error, the run continues, the server restarts (F58)", async () => {
  await withServers({ one: hostileServer("calls"), two: hostileServer("calls") }, async (mcp) => {
    const [held, waiting] = [
      findTool(mcp, "mcp_one_echo"),
      getFailure(callTestTool(findTool(mcp, "mcp_one_hang"))),
    ];
    const result = await run(createCaller(mcp, "mcp_one_fall"), "Go");
    expect(result.orThrow().text).toBe("It is error.");
    expect(getResultEntry(result).error).toEqual({
      code: "mcp_disconnected",
      message: "The MCP server process exited with code 3.",
    });
    expect(await waiting).toMatch(/^mcp_disconnected: /);
    expect(getState(mcp)).toBe("restarting");
    expect((await runCall(mcp, "mcp_two_echo", { said: "untouched" })).entry.content).toBe("untouched");
    // A call that comes too early waits for it.
    expect(await callTestTool(held, { said: "back" })).toEqual({ content: "back" });
    expect(findStatus(mcp, "one")).toMatchObject({ state: "ready", restarts: 1 });
    expect(findStatus(mcp, "one").error).toBeUndefined();
  });
});

it("a server that dies at every start is started after 1, 2, 4, 8 and 16 seconds, and then given up (F58)", async () => {
  stopClock();
  await withServers({ one: hostileServer("exit-at-start") }, async (mcp) => {
    for (const [index, seconds] of [1, 2, 4, 8, 16].entries()) {
      // Its last line may arrive before its end.
      await waitUntil("it is to be started again", () => getState(mcp) === "restarting");
      vi.advanceTimersByTime(seconds * 1_000 - 1);
      expect(findStatus(mcp, "one").restarts).toBe(index);
      vi.advanceTimersByTime(1);
      expect(findStatus(mcp, "one").restarts).toBe(index + 1);
      const lines = findStatus(mcp, "one").log.length;
      await waitUntil("it has died again", () => findStatus(mcp, "one").log.length === lines + 5);
    }
    await waitUntil("it is given up", () => getState(mcp) === "failed");
    expect(findStatus(mcp, "one").error?.code).toBe("mcp_disconnected");
    vi.advanceTimersByTime(2 * 3_600_000);
    expect(findStatus(mcp, "one")).toMatchObject({ state: "failed", restarts: 5 });
    // Somebody who has repaired it can say so.
    await mcp.refreshTools();
    expect(findStatus(mcp, "one")).toMatchObject({ state: "restarting", restarts: 0 });
  });
});

it("a death of more than an hour ago does not count (F58)", async () => {
  stopClock();
  await withServers({ one: hostileServer("calls") }, async (mcp) => {
    const fall = findTool(mcp, "mcp_one_fall");
    for (const waitMs of [1_000, 2_000]) {
      await getFailure(callTestTool(fall));
      vi.advanceTimersByTime(waitMs);
      await waitUntil("it is back", () => getState(mcp) === "ready");
    }
    expect(findStatus(mcp, "one").restarts).toBe(2);
    vi.advanceTimersByTime(3_600_001);
    await getFailure(callTestTool(fall));
    expect(findStatus(mcp, "one")).toMatchObject({ state: "restarting", restarts: 0 });
    vi.advanceTimersByTime(1_000);
    await waitUntil("it is back", () => getState(mcp) === "ready");
  });
});

it("a call that waits for a delayed start is released by a request for an immediate start (F58)", async () => {
  stopClock();
  await withServers({ one: hostileServer("calls") }, async (mcp) => {
    const echo = findTool(mcp, "mcp_one_echo");
    await getFailure(callTestTool(findTool(mcp, "mcp_one_fall")));
    const early = callTestTool(echo, { said: "early" });
    await mcp.refreshTools();
    expect(await early).toEqual({ content: "early" });
  });
});

it("a server that is being started again is not waited for at close (F58, S4-47)", async () => {
  stopClock();
  await withServers({ one: hostileServer("exit-at-start") }, async (mcp) => {
    expect(getState(mcp)).toBe("restarting");
    await mcp.close();
    expect(getState(mcp)).toBe("closed");
    vi.advanceTimersByTime(60_000);
    expect(findStatus(mcp, "one")).toMatchObject({ state: "closed", restarts: 0 });
  });
});

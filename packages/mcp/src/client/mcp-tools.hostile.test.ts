import { afterAll, beforeAll, expect, it } from "vitest";
import { measureLongestGap } from "../../../capstan/src/testing/cpu-time.ts";
import { type McpTools, mcpTools } from "./mcp-tools.ts";
import {
  callTestTool,
  findStatus,
  findTool,
  getFailure,
  hostileServer,
  runCall,
  waitUntil,
  withServers,
} from "./testing/test-servers.ts";

/** One server for all that do it no harm. */
let shared: McpTools;
beforeAll(async () => {
  process.env.OPENAI_API_KEY = "sk-canary";
  shared = await mcpTools({ mcpServers: { plain: { ...hostileServer("calls"), env: { LISTED: "yes" } } } });
});
afterAll(() => {
  delete process.env.OPENAI_API_KEY;
  return shared.close();
});

it.concurrent("a server that exits at start does not stop the others (F58, M5, S4-46)", async () => {
  const servers = {
    dead: hostileServer("exit-at-start"),
    later: hostileServer("exit-on-initialize"),
    alive: hostileServer("calls"),
  };
  await withServers(servers, async (mcp) => {
    // It restarts from time to time.
    await waitUntil(
      "the dead server waits for its next start",
      () => findStatus(mcp, "dead").state === "restarting",
    );
    expect(findStatus(mcp, "dead")).toMatchObject({
      state: "restarting",
      error: { code: "mcp_disconnected", message: expect.stringContaining("with code 1") },
      log: expect.arrayContaining(["no configuration"]),
      tools: [],
    });
    await waitUntil("the later server has exited", () => findStatus(mcp, "later").error !== undefined);
    expect(findStatus(mcp, "later").error?.message).toContain("with code 2");
    const { answer, entry } = await runCall(mcp, "mcp_alive_echo", { said: "hello" });
    expect([answer, entry.content]).toEqual(["It is ok.", "hello"]);
  });
});

it.concurrent("a command that does not exist is reported and does not stop the others (F58, S4-46)", async () => {
  const missing = { command: "capstan-no-such-command" };
  await withServers({ missing, alive: hostileServer("calls") }, async (mcp) => {
    expect(findStatus(mcp, "missing").error).toMatchObject({
      code: "mcp_disconnected",
      message: expect.stringContaining('"capstan-no-such-command" cannot be started'),
    });
    expect(findStatus(mcp, "alive").state).toBe("ready");
  });
});

it.concurrent.each([
  "hang-at-start",
  "hang-on-list",
  "silent",
])("a server that is %s times out (F59)", async (behavior) => {
  await withServers({ slow: { ...hostileServer(behavior), startTimeout: 1_000 } }, async (mcp) => {
    expect(findStatus(mcp, "slow")).toMatchObject({
      error: { code: "mcp_disconnected", message: 'The MCP server "slow" did not respond in time.' },
      tools: [],
    });
  });
});

it.concurrent.each([
  "calls",
  "modern",
])("a call that hangs ends with the tool's timeout, the server is notified, and the run continues (F59, %s)", async (behavior) => {
  await withServers(
    { slow: { ...hostileServer(behavior), tools: { hang: { timeout: 500 } } } },
    async (mcp) => {
      const { answer, entry } = await runCall(mcp, "mcp_slow_hang");
      expect([answer, entry.error?.code]).toEqual(["It is error.", "tool_timeout"]);
      const cancelled = await runCall(mcp, "mcp_slow_cancelled");
      expect(JSON.parse(String(cancelled.entry.content))).toHaveLength(1);
    },
  );
});

it.concurrent("lines on stdout that are not messages are skipped and counted, and calls still work (F60)", async () => {
  await withServers({ noisy: hostileServer("calls") }, async (mcp) => {
    const { entry } = await runCall(mcp, "mcp_noisy_junk");
    expect([entry.status, entry.content]).toEqual(["ok", "still here"]);
    const { junk, log } = findStatus(mcp, "noisy");
    expect(junk).toBe(5);
    expect(log).toContain("Not a message: \\u{1b}[31mred\\u{1b}[0m");
  });
});

it.concurrent("after more than 1,000 of them the server is closed and its calls fail with a code (F60)", async () => {
  await withServers({ noisy: hostileServer("calls") }, async (mcp) => {
    const waiting = getFailure(callTestTool(findTool(mcp, "mcp_noisy_hang")));
    const { answer, entry } = await runCall(mcp, "mcp_noisy_flood");
    expect([answer, entry.error?.code]).toEqual(["It is error.", "mcp_protocol"]);
    expect(await waiting).toMatch(
      /^mcp_protocol: The server was closed: it wrote more than 1000 lines to stdout/,
    );
    expect(findStatus(mcp, "noisy")).toMatchObject({
      state: "failed",
      error: { code: "mcp_protocol" },
      junk: 1_001,
    });
    expect((await runCall(shared, "mcp_plain_echo", { said: 1 })).entry.content).toBe("1");
  });
});

it.concurrent.each([
  11, 400,
])("a line of %i MB does not fill the memory: the call fails with a code and the server restarts (F61)", async (megabytes) => {
  await withServers({ wide: hostileServer("calls") }, async (mcp) => {
    const before = process.memoryUsage().rss;
    const { answer, entry } = await runCall(mcp, "mcp_wide_long-line", { megabytes });
    expect([answer, entry.error?.code]).toEqual(["It is error.", "mcp_protocol"]);
    expect(entry.error?.message).toContain("longer than 10485760 bytes");
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
    expect((await runCall(shared, "mcp_plain_echo", { said: "fine" })).entry.content).toBe("fine");
    await waitUntil("the server is back", () => findStatus(mcp, "wide").state === "ready");
    expect((await runCall(mcp, "mcp_wide_echo", { said: "back" })).entry.content).toBe("back");
  });
});

it.concurrent("unknown, duplicate and malformed responses are ignored and counted (F62)", async () => {
  await withServers({ odd: hostileServer("calls") }, async (mcp) => {
    const { entry } = await runCall(mcp, "mcp_odd_stray");
    expect(entry.content).toBe("once");
    await waitUntil("all of it has come", () => findStatus(mcp, "odd").junk === 2);
    expect(findStatus(mcp, "odd")).toMatchObject({ state: "ready", ignored: 4 });
    const wrong = await runCall(mcp, "mcp_odd_wrong-shape");
    expect(wrong.entry.error?.code).toBe("mcp_protocol");
    expect(wrong.entry.error?.message.length).toBeLessThan(1_000);
    expect((await runCall(mcp, "mcp_odd_echo", { said: "still" })).entry.content).toBe("still");
  });
});

it.concurrent("an endlessly nested response fails only its own call (F62)", async () => {
  await withServers({ odd: hostileServer("calls") }, async (mcp) => {
    expect((await runCall(mcp, "mcp_odd_deep-stray")).entry.content).toBe("still here");
    await runCall(mcp, "mcp_odd_deep");
    expect(findStatus(mcp, "odd")).toMatchObject({ state: "ready", restarts: 0, ignored: 1 });
  });
});

it.concurrent("a server sees a few harmless variables, the configured ones, and no key (A48)", async () => {
  const { entry } = await runCall(shared, "mcp_plain_environment");
  const seen = JSON.parse(String(entry.content));
  const allowed = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "AI_AGENT", "LISTED"];
  expect(allowed).toEqual(expect.arrayContaining(Object.keys(seen)));
  expect(seen).toMatchObject({ AI_AGENT: "capstan", LISTED: "yes", PATH: process.env.PATH });
  expect(String(entry.content)).not.toContain("canary");
});

it.concurrent("a server has its three streams, but not the lifeline of its guard (A48)", async () => {
  const { entry } = await runCall(shared, "mcp_plain_line");
  expect(entry.content).toBe("no socket");
});

it.concurrent("a result with 300,000 items is truncated and does not block the process (A53)", async () => {
  const count = 300_000;
  const { value, gapMs } = await measureLongestGap(() => runCall(shared, "mcp_plain_many-items", { count }));
  expect(gapMs).toBeLessThan(2_000);
  expect(value.entry.content).toContain(`(${count - 1000} more items omitted)`);
});

it.concurrent("100,000 invalid items are one short error and do not block the process (A53)", async () => {
  const input = { count: 100_000, bad: true };
  const { value, gapMs } = await measureLongestGap(() => runCall(shared, "mcp_plain_many-items", input));
  expect(gapMs).toBeLessThan(2_000);
  expect(value.entry.error?.code).toBe("mcp_protocol");
  expect(value.entry.error?.message.length).toBeLessThan(1_000);
});

it.concurrent("a result with a million items exceeds the message limit (A53)", async () => {
  await withServers({ many: hostileServer("calls") }, async (mcp) => {
    const count = 1_000_000;
    const { value, gapMs } = await measureLongestGap(() => runCall(mcp, "mcp_many_many-items", { count }));
    expect(gapMs).toBeLessThan(2_000);
    expect(value.entry.error?.code).toBe("mcp_protocol");
  });
});

it.concurrent("links of a server are named and never followed (A53)", async () => {
  // That nothing is fetched is seen to by the guard of all tests: a connection beyond loopback fails them.
  const { entry } = await runCall(shared, "mcp_plain_links");
  expect(entry.content).toBe(
    "[link to file:///etc/passwd (passwords)]\n[link to http://169.254.169.254/latest/meta-data (metadata)]",
  );
});

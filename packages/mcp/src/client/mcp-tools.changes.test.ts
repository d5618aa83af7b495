import { afterEach, expect, it } from "vitest";
import { joinMcpTools } from "./join-mcp-tools.ts";
import { type McpTools, mcpTools } from "./mcp-tools.ts";
import { hostileServer } from "./testing/test-servers.ts";
import { maxTrafficMessages } from "./transport/traffic.ts";

const hostile = hostileServer("calls");
const opened: McpTools[] = [];

async function open(options: Parameters<typeof mcpTools>[0] = {}): Promise<McpTools> {
  const mcp = await mcpTools(options);
  opened.push(mcp);
  return mcp;
}
afterEach(async () => {
  for (const mcp of opened.splice(0)) await mcp.close();
});

async function call(mcp: McpTools, tool: string, input: object): Promise<unknown> {
  const found = mcp.tools.find(({ name }) => name === tool);
  const context = {
    signal: new AbortController().signal,
    answers: [],
    idempotencyKey: "test/1",
    progress() {},
  };
  return found?.execute?.(input, context as never);
}

it("servers are added and removed while others run (S4-43)", async () => {
  const mcp = await open();
  expect(mcp.tools).toEqual([]);
  await mcp.add("first", hostile);
  expect(mcp.status()).toMatchObject([{ name: "first", state: "ready", address: "node hostile-server.ts" }]);
  await expect(mcp.add("first", hostile)).rejects.toMatchObject({ code: "mcp_config" });
  await expect(mcp.add("bad name", hostile)).rejects.toMatchObject({ code: "mcp_config" });
  await expect(mcp.add("odd", { ...hostile, unknown: 1 } as never)).rejects.toThrow(
    'unknown field "unknown"',
  );
  await mcp.add("away", { command: "no-such-program-here" });
  expect(mcp.status().map(({ name }) => name)).toEqual(["first", "away"]);
  expect(await call(mcp, "mcp_first_echo", { said: "hello" })).toEqual({ content: "hello" });
  const pid = Number(((await call(mcp, "mcp_first_pid", {})) as { content: string }).content);
  await mcp.remove("first");
  expect(mcp.tools).toEqual([]);
  await expect.poll(() => isAlive(pid)).toBe(false);
  await expect(mcp.remove("first")).rejects.toMatchObject({ code: "mcp_config" });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it("two sets of servers look like one, and the first wins", async () => {
  const [first, second] = [await open(), await open({ mcpServers: { own: hostile } })];
  const joined = joinMcpTools(first, second);
  await joined.add("added", hostile);
  expect(joined.status().map(({ name }) => name)).toEqual(["added", "own"]);
  expect(first.status().map(({ name }) => name)).toEqual(["added"]);
  await expect(joined.add("own", hostile)).rejects.toMatchObject({ code: "mcp_config" });
  expect(joined.traffic("own").length).toBeGreaterThan(0);
  expect(await call(joined, "mcp_own_echo", { said: "hi" })).toEqual({ content: "hi" });
  await joined.remove("added");
  expect(joined.status().map(({ name }) => name)).toEqual(["own"]);
});

it("the traffic of a server is masked and bounded (A110)", async () => {
  const secret = "canary-0123456789abcdef";
  const mcp = await open({
    mcpServers: { spy: { ...hostile, env: { SPY_TOKEN: secret, PLAIN: "plain-value-123" } } },
  });
  expect(
    mcp.traffic("spy").map(({ direction, text }) => `${direction} ${JSON.parse(text).method}`),
  ).toContain("sent tools/list");
  await call(mcp, "mcp_spy_environment", {});
  const result = mcp.traffic("spy").at(-1)?.text ?? "";
  expect(result).toContain("plain-value-123");
  expect(result).toContain("***");
  await call(mcp, "mcp_spy_echo", {
    said: "shown",
    password: "canary-password",
    nested: { apiKey: "canary-key" },
  });
  expect(JSON.stringify(mcp.traffic("spy"))).not.toMatch(/canary/);
  expect(mcp.traffic("spy").at(-2)?.text).toContain("shown");
  await call(mcp, "mcp_spy_echo", { said: `${"y".repeat(3_990)}${secret}${"y".repeat(1_000)}` });
  expect(JSON.stringify(mcp.traffic("spy")), "a secret at a cut").not.toMatch(/canary/);
  await call(mcp, "mcp_spy_echo", { said: "x".repeat(1_000_000) });
  const large = mcp.traffic("spy").at(-1);
  expect(large?.size).toBeGreaterThan(1_000_000);
  expect(large?.text.length).toBeLessThan(10_000);
  const last = large?.number ?? 0;
  for (let turn = 0; turn < maxTrafficMessages; turn++) await call(mcp, "mcp_spy_echo", { said: "again" });
  expect(mcp.traffic("spy")).toHaveLength(maxTrafficMessages);
  const later = mcp.traffic("spy", last + 2 * maxTrafficMessages - 3);
  expect(later.map(({ number }) => number - last - 2 * maxTrafficMessages)).toEqual([-2, -1, 0]);
});

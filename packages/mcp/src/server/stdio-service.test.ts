import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildProgramArguments } from "@capstan/verification/program-arguments";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { compileCache } from "../client/testing/test-servers.ts";
import { claimStdout } from "./claim-stdout.ts";
import { serveMcp } from "./serve-mcp.ts";
import { clientInfo, type Era, versionNegotiation } from "./testing/connect.ts";
import { listenOnLoopback } from "./testing/listen.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});
const fixture = fileURLToPath(new URL("testing/stdio-server.ts", import.meta.url));
const server = {
  command: process.execPath,
  args: buildProgramArguments(fixture),
  env: compileCache,
};
const query = { name: "query", arguments: { prompt: "Rain?" } };

it.each<Era>(["modern", "legacy"])("a client of the %s era queries an agent over stdio (M1)", async (era) => {
  const client = new Client(clientInfo, { versionNegotiation: versionNegotiation[era] });
  const told: (string | undefined)[] = [];
  await client.connect(new StdioClientTransport({ ...server, stderr: "ignore" }));
  closing.push(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["query", "resume"]);
  const result = await client.callTool(query, { onprogress: ({ message }) => void told.push(message) });
  expect(result.structuredContent).toMatchObject({
    status: "done",
    tools: [{ name: "weather", status: "ok" }],
  });
  expect(told).toEqual(["Turn 1", "calling weather", "Turn 2"]);
});

it("stdout carries only the protocol, whatever the process prints, until the client disconnects (M7)", async () => {
  const child = spawn(server.command, server.args);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const exited = new Promise((resolve) => child.on("exit", resolve));
  const sendLine = (message: unknown) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...(message as object) })}\n`);
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: clientInfo };
  sendLine({ id: 1, method: "initialize", params });
  sendLine({ method: "notifications/initialized" });
  sendLine({ id: 2, method: "tools/call", params: query });
  await expect.poll(() => stdout).toContain('"id":2');
  child.stdin.end();
  expect(await exited).toBe(0);

  expect(stdout.endsWith("AFTER\n")).toBe(true);
  const lines = stdout.slice(0, -"AFTER\n".length).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).jsonrpc)).toEqual(lines.map(() => "2.0"));
  for (const word of ["serving", "at debug level", "looking out", "no line end", "Turn 1/"])
    expect(stderr).toContain(word);
});

describe("the inspector's command line", () => {
  const inspector = fileURLToPath(
    import.meta.resolve("@modelcontextprotocol/inspector/package.json"),
  ).replace("package.json", "clients/launcher/build/index.js");

  async function inspect(...parameters: string[]): Promise<string> {
    const home = await mkdtemp(join(tmpdir(), "capstan-inspector-"));
    closing.push(() => rm(home, { recursive: true, force: true }));
    const env = {
      ...compileCache,
      PATH: process.env.PATH,
      HOME: home,
      MCP_CATALOG_PATH: join(home, "mcp.json"),
    };
    const { stdout } = await promisify(execFile)(process.execPath, [inspector, "--cli", ...parameters], {
      env,
    });
    return stdout;
  }

  it("lists the tools and queries an agent", async () => {
    const helper = defineAgent({ name: "helper", model: scriptedModel([{ text: "Hello." }]) });
    const { url, close } = await listenOnLoopback(serveMcp({ agents: [helper] }));
    closing.push(close);
    const listed = await inspect(url.href, "--method", "tools/list");
    expect(JSON.parse(listed).tools.map(({ name }: { name: string }) => name)).toEqual(["query"]);
    const call = ["--method", "tools/call", "--tool-name", "query", "--tool-arg", "prompt=Hi"];
    expect(JSON.parse(await inspect(url.href, ...call)).structuredContent).toMatchObject({
      answer: "Hello.",
    });
  });
});

it("a service on given streams ends with its input or when closed", async () => {
  const agents = [defineAgent({ name: "helper", model: scriptedModel([]) })];
  const service = serveMcp({ agents });
  const createStreams = () => ({ stdin: new PassThrough(), stdout: new PassThrough() });
  const first = createStreams();
  const { closed } = service.stdio(first);
  first.stdin.end();
  await closed;
  const second = service.stdio(createStreams());
  await service.close();
  await second.closed;
});

it("stdout is restored on release, and claimed by one service at a time (M7)", () => {
  const { write } = process.stdout;
  const claimed = claimStdout();
  expect(process.stdout.write).not.toBe(write);
  expect(() => claimStdout()).toThrow(/already serves/);
  claimed.release();
  expect(process.stdout.write).toBe(write);
});

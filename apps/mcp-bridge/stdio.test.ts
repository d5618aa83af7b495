// The bridge as other programs use it: a process that speaks MCP over stdio.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const scripted = join(import.meta.dirname, "testing", "scripted-serve.ts");
const program = join(import.meta.dirname, "serve.ts");

const countPrompt = "How many questions have you heard?";

let data: string;
let config: string;
const clients: Client[] = [];
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "capstan-bridge-"));
  config = mkdtempSync(join(tmpdir(), "capstan-bridge-"));
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const folder of [data, config]) rmSync(folder, { recursive: true });
});

const createEnvironment = () => ({
  PATH: process.env.PATH ?? "",
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
  CAPSTAN_HOME: data,
  CAPSTAN_MODEL: "offline",
});

const buildArguments = (file: string, ...rest: string[]) => ["--conditions=capstan-source", file, ...rest];

async function connect(file: string, ...rest: string[]): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  clients.push(client);
  const args = buildArguments(file, ...rest);
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: createEnvironment(), stderr: "ignore" }),
  );
  return client;
}

type Answer = {
  readonly answer: string;
  readonly session: string;
  readonly turns: number;
  readonly tools: unknown;
};

async function query(client: Client, prompt: string, sessionId?: string): Promise<Answer> {
  const input = { prompt, ...(sessionId !== undefined && { sessionId }) };
  const { structuredContent } = await client.callTool({ name: "query", arguments: input });
  return structuredContent as Answer;
}

/** The servers of the app, and one that fails to start. */
function writeBrokenConfig(): string {
  const { mcpServers } = JSON.parse(readFileSync(join(import.meta.dirname, "mcp.json"), "utf8"));
  const broken = { command: process.execPath, args: ["-e", "process.exit(1)"] };
  const file = join(config, "mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { broken, ...mcpServers } }));
  return file;
}

describe("scenario: an MCP client asks the bridge", () => {
  it("which asks a child server although another one crashed on start; it remembers the session, and a new process knows nothing (S4-04, S4-12, S4-46, S4-54, S4-55, S4-56, S4-62)", async () => {
    const client = await connect(scripted, data, writeBrokenConfig());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(["fetch", "query", "resume", "search"]);
    const first = await query(client, "How far is the marathon course?");
    expect(first).toMatchObject({
      answer: "The tool says: 42 km = 26.0976 mi",
      turns: 2,
      tools: [{ name: "mcp_units_convert", arguments: { value: 42, from: "km", to: "mi" }, status: "ok" }],
      reasoning: [
        { turn: 1, text: "A tool knows." },
        { turn: 2, text: "That is it." },
      ],
    });
    expect((await query(client, countPrompt, first.session)).answer).toBe("I have heard 2 questions.");
    const found = await client.callTool({ name: "search", arguments: { query: "Bergen" } });
    expect(found.structuredContent).toMatchObject({ results: [{ id: "notes/note:///1" }] });
    await client.close();

    // The conversation is stored in no file, so a new process knows nothing of it.
    const later = await connect(scripted, data);
    expect((await query(later, countPrompt, first.session)).answer).toBe("I have heard 1 questions.");
    expect(readdirSync(data)).toEqual(["reasoning.log"]);
    const thoughts = readFileSync(join(data, "reasoning.log"), "utf8");
    expect(thoughts).toContain("A tool knows.");
    expect(thoughts).not.toMatch(/marathon|26\.0976/);
  });
});

type Program = { readonly out: () => string; readonly err: () => string; readonly child: ChildProcess };

function startProgram(...rest: string[]): Program {
  const child = spawn(process.execPath, buildArguments(program, ...rest), { env: createEnvironment() });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.setEncoding("utf8").on("data", (chunk) => out.push(chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => err.push(chunk));
  return { out: () => out.join(""), err: () => err.join(""), child };
}

const waitForExit = (child: ChildProcess) => new Promise((resolve) => child.on("exit", resolve));
const pollOptions = { timeout: 30_000 };

describe("serve.ts", () => {
  it("writes only the protocol to stdout, even with --debug (S4-53, S4-57)", async () => {
    const { child, out, err } = startProgram("--debug");
    const exited = waitForExit(child);
    const say = (message: object) =>
      child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const ask = (id: number, name: string, input: object) =>
      say({ id, method: "tools/call", params: { name, arguments: input } });
    const clientInfo = { name: "test", version: "1" };
    say({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
    });
    say({ method: "notifications/initialized" });
    ask(2, "query", { prompt: "Hello!" });
    ask(3, "fetch", { id: "notes/note:///2" });
    ask(4, "fetch", { id: "notes/note:///77" });
    const getLines = () => out().split("\n").filter(Boolean);
    await expect.poll(() => getLines().length, pollOptions).toBe(4);
    child.stdin?.end();
    expect(await exited).toBe(0);
    const answers = new Map(getLines().map((line) => [JSON.parse(line).id, JSON.parse(line)]));
    expect([...answers.values()].map(({ jsonrpc }) => jsonrpc)).toEqual(["2.0", "2.0", "2.0", "2.0"]);
    expect(answers.get(2).result.structuredContent).toMatchObject({ status: "done", turns: 1, tools: [] });
    expect(answers.get(3).result.structuredContent.text).toContain("Friday at ten");
    expect(answers.get(4).result.isError).toBe(true);
    expect(err()).toContain("Turn 1/10");
  });

  it("serves HTTP on this machine until it is terminated (S4-54)", async () => {
    const { child, err } = startProgram("--http", "0");
    const exited = waitForExit(child);
    await expect.poll(err, pollOptions).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/m);
    const url = /^http:.*$/m.exec(err())?.[0] ?? "";
    const client = new Client({ name: "test", version: "1" });
    clients.push(client);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    expect(await query(client, "Hello!")).toMatchObject({ turns: 1, tools: [] });
    await client.close();
    child.kill("SIGTERM");
    expect(await exited).toBe(0);
  });
});

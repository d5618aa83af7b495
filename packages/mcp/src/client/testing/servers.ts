import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Agent,
  AgentError,
  defineAgent,
  type Result,
  type ResultEntry,
  run,
  type Tool,
  type ToolContext,
} from "capstan";
import { scriptedModel } from "capstan/testing";
import { readThreadCpuMs } from "../../../../capstan/src/testing/cpu-time.ts";
import type { ServerConfig, StdioConfig } from "../config.ts";
import { type McpOptions, type McpTools, mcpTools } from "../mcp-tools.ts";
import type { ServerStatus } from "../server.ts";

/** The file of a program of the tests. */
export const script = (name: string): string => fileURLToPath(new URL(`./${name}.ts`, import.meta.url));

/** `hostile-server.ts`, beginning in one of its manners. */
export function hostile(manner: string, file?: string): StdioConfig {
  return nodeServer(script("hostile-server"), manner, ...(file ? [file] : []));
}

/** `listed-server.ts`, with its file. */
export function listed(file: string): StdioConfig {
  return nodeServer(script("listed-server"), file);
}

/** `asking-server.ts`, of an era. */
export function asking(era: "2025" | "2026"): StdioConfig {
  return nodeServer(script("asking-server"), era);
}

function nodeServer(...args: string[]): StdioConfig {
  return { command: process.execPath, args, startTimeout: 60_000 };
}

/** Starts servers, and ends them whatever happens. */
export async function withServers<Value>(
  mcpServers: Readonly<Record<string, ServerConfig>>,
  use: (mcp: McpTools) => Promise<Value>,
  options: McpOptions = {},
): Promise<Value> {
  const mcp = await mcpTools({ mcpServers, ...options });
  try {
    return await use(mcp);
  } finally {
    await mcp.close();
  }
}

/** A folder that is there while it is used. */
export async function withFolder<Value>(use: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = await mkdtemp(join(tmpdir(), "capstan-mcp-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes what `listed-server.ts` says. */
export async function list(file: string, content: object): Promise<string> {
  await writeFile(file, JSON.stringify(content));
  return file;
}

export function toolNamed(mcp: McpTools, name: string): Tool {
  const tool = mcp.tools.find((one) => one.name === name);
  if (!tool) throw new Error(`There is no ${name} among ${mcp.tools.map((one) => one.name).join(", ")}.`);
  return tool;
}

/** Calls a tool as the loop does, without an agent. */
export async function call(
  tool: Tool,
  input: unknown = {},
  more: Partial<ToolContext> = {},
): Promise<unknown> {
  return tool.execute?.(input, {
    signal: new AbortController().signal,
    runId: "run",
    sessionId: "session",
    callId: "call",
    idempotencyKey: crypto.randomUUID(),
    context: undefined,
    answers: [],
    progress: () => undefined,
    readBlob: async () => undefined,
    ...more,
  });
}

/** What a call fails with, as `code: message`. */
export async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    return `no failure, but ${JSON.stringify(await work)}`;
  } catch (thrown) {
    return thrown instanceof AgentError ? `${thrown.code}: ${thrown.message}` : String(thrown);
  }
}

/** An agent that calls one tool and then says what came of it. */
export function caller(mcp: McpTools, name: string, input: object = {}): Agent {
  const model = scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (last?.type === "result") return { text: `It is ${last.status}.` };
    return { calls: [{ name, input: input as Record<string, string> }] };
  });
  return defineAgent({ name: "caller", model, tools: mcp.tools, policy: { gate: "off" } });
}

/** What became of the only call of a run. */
export function entryOf({ history, text }: Result): ResultEntry {
  const entry = history.find((one) => one.type === "result");
  if (!entry) throw new Error(`The run has made no call: ${text}`);
  return entry;
}

/** A whole run around one call: its answer, and what became of the call. */
export async function runCall(
  mcp: McpTools,
  name: string,
  input: object = {},
): Promise<{ readonly answer: string; readonly entry: ResultEntry }> {
  const result = await run(caller(mcp, name, input), "Go");
  return { answer: result.orThrow().text, entry: entryOf(result) };
}

export function statusOf(mcp: McpTools, name: string): ServerStatus {
  const status = mcp.status().find((one) => one.name === name);
  if (!status) throw new Error(`There is no server ${name}.`);
  return status;
}

// Taken here, so that it is the real one in a test that stops the clock.
const { setTimeout: later } = globalThis;

/** Waits until something is so, and says what was expected when it never is. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  timeoutMs = 30_000,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`Not within ${timeoutMs} ms: ${what}.`);
    await new Promise((resolve) => later(resolve, 20));
  }
}

/** Whether a process is there. One that has ended and that nobody has collected is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch (error) {
    // There is no /proc to ask.
    return (error as NodeJS.ErrnoException).code === "ENOENT" && process.platform !== "linux";
  }
}

/** The processes that a server has written to a file: itself, its child, its guard. */
export async function processesIn(
  file: string,
): Promise<readonly [server: number, child: number, guard: number]> {
  await until(
    `there are processes in ${file}`,
    () => existsSync(file) && readFileSync(file, "utf8").endsWith(".\n"),
  );
  const [server = 0, child = 0, guard = 0] = readFileSync(file, "utf8").split(/\s+/).map(Number);
  return [server, child, guard];
}

/** The longest CPU time for which the event loop was blocked, in milliseconds. */
export async function longestGap<Value>(
  work: () => Promise<Value>,
): Promise<{ value: Value; gapMs: number }> {
  let last = readThreadCpuMs();
  let gapMs = 0;
  const ticker = setInterval(() => {
    const now = readThreadCpuMs();
    gapMs = Math.max(gapMs, now - last);
    last = now;
  }, 20);
  try {
    const value = await work();
    return { value, gapMs: Math.max(gapMs, readThreadCpuMs() - last) };
  } finally {
    clearInterval(ticker);
  }
}

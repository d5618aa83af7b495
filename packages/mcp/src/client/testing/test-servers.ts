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
import type { ServerConfig, StdioConfig } from "../config/server-config.ts";
import { type McpOptions, type McpTools, mcpTools } from "../mcp-tools.ts";
import type { ServerStatus } from "../server-status.ts";

/** Returns the path of a test program. */
export const getScript = (name: string): string => fileURLToPath(new URL(`./${name}.ts`, import.meta.url));

/** Runs `hostile-server.ts` with one of its behaviors. */
export function hostileServer(behavior: string, file?: string): StdioConfig {
  return configureNodeServer(getScript("hostile-server"), behavior, ...(file ? [file] : []));
}

/** Runs `file-server.ts` with its file. */
export function fileServer(file: string): StdioConfig {
  return configureNodeServer(getScript("file-server"), file);
}

/** Runs `growing-server.ts`, which adds a tool while it runs. */
export function growingServer(): StdioConfig {
  return configureNodeServer(getScript("growing-server"));
}

/** Runs `elicitation-server.ts` for an era. */
export function elicitationServer(era: "2025" | "2026"): StdioConfig {
  return configureNodeServer(getScript("elicitation-server"), era);
}

/** Lets Node programs load compiled code, as other test processes do: it takes half of the CPU time. */
export const compileCache: { readonly NODE_COMPILE_CACHE: string } = {
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
};

function configureNodeServer(...args: string[]): StdioConfig {
  return { command: process.execPath, args, env: compileCache, startTimeout: 60_000 };
}

/** Starts servers and closes them after `use`. */
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

/** Creates a temporary folder and removes it after `use`. */
export async function withFolder<Value>(use: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = await mkdtemp(join(tmpdir(), "capstan-mcp-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the file that `file-server.ts` reads. */
export async function writeServerFile(file: string, content: object): Promise<string> {
  await writeFile(file, JSON.stringify(content));
  return file;
}

export function findTool(mcp: McpTools, name: string): Tool {
  const tool = mcp.tools.find((candidate) => candidate.name === name);
  if (!tool)
    throw new Error(`No tool ${name} among ${mcp.tools.map((candidate) => candidate.name).join(", ")}.`);
  return tool;
}

/** Calls a tool like the loop, without an agent. */
export async function callTestTool(
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

/** Returns the error of a call as `code: message`. */
export async function getFailure(work: Promise<unknown>): Promise<string> {
  try {
    return `no failure: ${JSON.stringify(await work)}`;
  } catch (thrown) {
    return thrown instanceof AgentError ? `${thrown.code}: ${thrown.message}` : String(thrown);
  }
}

/** Creates an agent that calls one tool and reports its status. */
export function createCaller(mcp: McpTools, name: string, input: object = {}): Agent {
  const model = scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (last?.type === "result") return { text: `It is ${last.status}.` };
    return { calls: [{ name, input: input as Record<string, string> }] };
  });
  return defineAgent({ name: "caller", model, tools: mcp.tools, policy: { gate: "off" } });
}

/** Returns the result of the only call of a run. */
export function getResultEntry({ history, text }: Result): ResultEntry {
  const entry = history.find((candidate) => candidate.type === "result");
  if (!entry) throw new Error(`The run has made no call: ${text}`);
  return entry;
}

/** Runs an agent that makes one call. */
export async function runCall(
  mcp: McpTools,
  name: string,
  input: object = {},
): Promise<{ readonly answer: string; readonly entry: ResultEntry }> {
  const result = await run(createCaller(mcp, name, input), "Go");
  return { answer: result.orThrow().text, entry: getResultEntry(result) };
}

export function findStatus(mcp: McpTools, name: string): ServerStatus {
  const status = mcp.status().find((candidate) => candidate.name === name);
  if (!status) throw new Error(`No server ${name}.`);
  return status;
}

// Saved before a test replaces the clock.
const { setTimeout: realSetTimeout } = globalThis;

/** Polls until a condition is met. Throws with the expectation after the timeout. */
export async function waitUntil(
  expectation: string,
  isMet: () => boolean | Promise<boolean>,
  timeoutMs = 30_000,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await isMet())) {
    if (performance.now() > end) throw new Error(`Not within ${timeoutMs} ms: ${expectation}.`);
    await new Promise((resolve) => realSetTimeout(resolve, 20));
  }
}

/** Whether a process is running. A zombie is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch (error) {
    // No /proc on this system.
    return (error as NodeJS.ErrnoException).code === "ENOENT" && process.platform !== "linux";
  }
}

/** Reads the pids that a server wrote to a file: its own, its child's and its guard's. */
export async function readProcesses(
  file: string,
): Promise<readonly [server: number, child: number, guard: number]> {
  await waitUntil(
    `there are processes in ${file}`,
    () => existsSync(file) && readFileSync(file, "utf8").endsWith(".\n"),
  );
  const [server = 0, child = 0, guard = 0] = readFileSync(file, "utf8").split(/\s+/).map(Number);
  return [server, child, guard];
}

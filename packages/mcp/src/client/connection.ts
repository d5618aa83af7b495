import type {
  CallToolResult,
  Client,
  InputRequiredResult,
  Tool as McpTool,
  ProgressCallback,
} from "@modelcontextprotocol/client";
import { AgentError, type ErrorData } from "capstan";
import { connectServer, listTools, type Reach } from "./connect-server.ts";
import { isForgotten, serverError } from "./server-error.ts";
import { type ServerLog, serverLog } from "./server-log.ts";

export type ServerState = "off" | "starting" | "ready" | "restarting" | "failed" | "closed";

/** How a server is doing. */
export type ConnectionStatus = {
  readonly state: ServerState;
  readonly error?: ErrorData;
  /** The revision that is spoken with it. */
  readonly protocolVersion?: string;
  /** Starts after the first one, within the last hour. */
  readonly restarts: number;
  /** Lines on its stdout that were no messages. */
  readonly junk: number;
  /** Messages that fit nothing: answers to no question, wrong shapes. */
  readonly ignored: number;
  /** The last lines of its log, oldest first. */
  readonly log: readonly string[];
};

export type Calling = {
  readonly signal: AbortSignal;
  onProgress: ProgressCallback;
  /** Of a server that has asked: what it is to be told, and what it gave to be told again. */
  readonly resumed?: { readonly inputResponses: Record<string, unknown>; readonly requestState?: string };
};

/** One server, started again when it goes away. */
export interface Connection {
  readonly name: string;
  status(): ConnectionStatus;
  /** Adds a line to its log. */
  log(line: string): void;
  /** Resolves when the first attempt to start has succeeded or failed. */
  start(): Promise<void>;
  /** The client of a running server; waits while it is being started again. */
  client(signal?: AbortSignal): Promise<Client>;
  call(
    tool: McpTool,
    input: Record<string, unknown>,
    calling: Calling,
  ): Promise<CallToolResult | InputRequiredResult>;
  /** Asks for its tools anew; starts it first where it had been given up. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

type Supervised = {
  readonly name: string;
  readonly reach: Reach;
  readonly log: ServerLog;
  state: ServerState;
  error: AgentError | undefined;
  current: Client | undefined;
  /** The start that is under way or awaited. */
  attempt: Promise<void>;
  timer: NodeJS.Timeout | undefined;
  /** When it was started again. */
  restarts: number[];
};

const mostRestarts = 5;
const hourMs = 3_600_000;
const firstWaitMs = 1_000;
const longestTimer = 2 ** 31 - 1;

export function openConnection(name: string, reach: Reach, isEnabled: boolean): Connection {
  const server: Supervised = {
    name,
    reach,
    log: serverLog(),
    state: isEnabled ? "starting" : "off",
    error: undefined,
    current: undefined,
    attempt: Promise.resolve(),
    timer: undefined,
    restarts: [],
  };
  return {
    name,
    status: () => statusOf(server),
    log: server.log.log,
    start() {
      if (server.state === "starting") server.attempt = begin(server);
      return server.attempt;
    },
    client: (signal) => ready(server, signal),
    call: (tool, input, calling) => call(server, { tool, input }, calling),
    async refresh() {
      if (server.current) return listTools(server.current, reach);
      if (server.state !== "failed" && server.state !== "restarting") return;
      clearTimeout(server.timer);
      server.restarts = [];
      server.state = "starting";
      server.attempt = begin(server);
      await server.attempt;
    },
    async close() {
      clearTimeout(server.timer);
      if (server.state === "restarting") server.attempt = Promise.resolve(); // it never begins
      server.state = "closed";
      await server.attempt;
      const client = server.current;
      server.current = undefined;
      await client?.close();
    },
  };
}

function statusOf({ state, error, current, restarts, log }: Supervised): ConnectionStatus {
  const protocolVersion = current?.getNegotiatedProtocolVersion();
  return {
    state,
    ...(error && { error: { code: error.code, message: error.message, retryable: error.retryable } }),
    ...(protocolVersion !== undefined && { protocolVersion }),
    restarts: restarts.length,
    ...log.counts,
    log: log.tail(),
  };
}

/** One attempt to start, and what comes of it. */
async function begin(server: Supervised): Promise<void> {
  try {
    const client = await connectServer(server.reach, server.log, (lost, why) => lose(server, lost, why));
    if (server.state === "closed") return client.close();
    server.current = client;
    server.error = undefined;
    server.state = "ready";
  } catch (thrown) {
    fail(server, thrown);
  }
}

function lose(server: Supervised, client: Client, why?: AgentError): void {
  if (server.current !== client) return;
  server.current = undefined;
  fail(server, why ?? new AgentError("mcp_disconnected", `The MCP server "${server.name}" went away.`));
}

/** A server that fails is started again, later each time, and given up when it fails too often. */
function fail(server: Supervised, thrown: unknown): void {
  if (server.state === "closed") return;
  const error = serverError(thrown, server.name);
  server.error = error;
  server.log.log(error.message);
  server.restarts = server.restarts.filter((at) => at > Date.now() - hourMs);
  if (!error.retryable || server.restarts.length >= mostRestarts) {
    server.state = "failed";
    return;
  }
  server.state = "restarting";
  const waitMs = firstWaitMs * 2 ** server.restarts.length;
  server.attempt = new Promise((resolve) => {
    server.timer = setTimeout(() => {
      server.restarts.push(Date.now());
      void begin(server).then(resolve);
    }, waitMs);
    // A server that does not come back must not keep the process.
    server.timer.unref();
  });
}

async function ready(server: Supervised, signal?: AbortSignal): Promise<Client> {
  const patience = AbortSignal.any([AbortSignal.timeout(server.reach.startMs), ...(signal ? [signal] : [])]);
  const given = new Promise<void>((resolve) => {
    patience.addEventListener("abort", () => resolve(), { once: true });
  });
  while (!server.current && isComing(server) && !patience.aborted)
    await Promise.race([server.attempt, given]);
  signal?.throwIfAborted();
  if (server.current) return server.current;
  const { state, error, name } = server;
  const why =
    state === "off" ? "It is switched off (`enabled: false`)." : (error?.message ?? `It is ${state}.`);
  throw new AgentError("mcp_disconnected", `The MCP server "${name}" cannot be used now. ${why}`);
}

function isComing({ state }: Supervised): boolean {
  return state === "restarting" || state === "starting";
}

async function call(
  server: Supervised,
  { tool, input }: { readonly tool: McpTool; readonly input: Record<string, unknown> },
  { signal, onProgress, resumed }: Calling,
): Promise<CallToolResult | InputRequiredResult> {
  const client = await ready(server, signal);
  // The result is checked by the runtime, in time that is linear whatever the schema says.
  const { outputSchema: _unchecked, ...toolDefinition } = tool;
  const params = { name: tool.name, arguments: input, ...resumed } as Parameters<Client["callTool"]>[0];
  try {
    return await client.callTool(params, {
      signal,
      timeout: longestTimer, // the runtime keeps the time; its signal ends the call
      onprogress: onProgress,
      allowInputRequired: true,
      toolDefinition,
    });
  } catch (thrown) {
    signal.throwIfAborted();
    if (isForgotten(thrown)) lose(server, client);
    // A server that went away in the middle of the call has a better reason than "closed".
    throw server.current !== client && server.error ? server.error : serverError(thrown, server.name);
  }
}

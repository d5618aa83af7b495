import {
  type CallToolResult,
  type Client,
  type InputRequiredResult,
  type Tool as McpTool,
  type ProgressCallback,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { AgentError, type ErrorData } from "capstan";
import { connectServer, listTools, type Reach } from "./connect-server.ts";
import { isForgotten, serverError } from "./server-error.ts";
import { type ServerLog, serverLog } from "./server-log.ts";

/** `signing-in`: a person is asked to, and it goes on when they have. */
export type ServerState = "off" | "starting" | "signing-in" | "ready" | "restarting" | "failed" | "closed";

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
  /** Resolves when the first attempt to start has succeeded or failed; a patient caller also waits for a sign-in. */
  start(isPatient: boolean): Promise<void>;
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
  /** Resolves when a start cannot go on without a person. */
  readonly awaitsPerson: PromiseWithResolvers<void>;
  timer: NodeJS.Timeout | undefined;
  /** Ends the wait for a start that was put off. */
  arrive: (() => void) | undefined;
  /** When it was started again. */
  restarts: number[];
};

const mostRestarts = 5;
const hourMs = 3_600_000;
const firstWaitMs = 1_000;
const longestTimer = 2 ** 31 - 1;

export function openConnection(name: string, given: Reach, isEnabled: boolean): Connection {
  const reach: Reach = {
    ...given,
    signedIn: (attempt) => given.signedIn(() => attempt().catch((thrown) => noteSignIn(server, thrown))),
  };
  const server: Supervised = {
    name,
    reach,
    log: serverLog(),
    state: isEnabled ? "starting" : "off",
    error: undefined,
    current: undefined,
    attempt: Promise.resolve(),
    awaitsPerson: Promise.withResolvers(),
    timer: undefined,
    arrive: undefined,
    restarts: [],
  };
  return {
    name,
    status: () => statusOf(server),
    log: server.log.log,
    async start(isPatient) {
      if (server.state === "starting") server.attempt = begin(server);
      await (isPatient ? server.attempt : Promise.race([server.attempt, server.awaitsPerson.promise]));
    },
    client: (signal) => ready(server, signal),
    call: (tool, input, calling) => call(server, { tool, input }, calling),
    async refresh() {
      if (server.current) return listTools(server.current, reach);
      if (server.state !== "failed" && server.state !== "restarting") return;
      clearTimeout(server.timer);
      const { arrive } = server;
      server.restarts = [];
      server.state = "starting";
      server.attempt = begin(server);
      await server.attempt;
      arrive?.();
    },
    async close() {
      clearTimeout(server.timer);
      if (server.state === "restarting") server.arrive?.();
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
    const connect = () => connectServer(server.reach, server.log, (lost, why) => lose(server, lost, why));
    const client = await server.reach.signedIn(connect);
    if (server.state === "closed") return client.close();
    server.current = client;
    server.error = undefined;
    server.state = "ready";
  } catch (thrown) {
    fail(server, thrown);
  }
}

/** A start that cannot go on without a person does not hold up the others. */
function noteSignIn(server: Supervised, thrown: unknown): never {
  if (thrown instanceof UnauthorizedError && isComing(server)) {
    server.state = "signing-in";
    server.awaitsPerson.resolve();
  }
  throw thrown;
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
  const { promise, resolve } = Promise.withResolvers<void>();
  server.attempt = promise;
  server.arrive = resolve;
  server.timer = setTimeout(() => {
    server.restarts.push(Date.now());
    server.state = "starting";
    void begin(server).then(resolve);
  }, waitMs);
  // A server that does not come back must not keep the process.
  server.timer.unref();
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
  throw new AgentError(
    "mcp_disconnected",
    `The MCP server "${name}" cannot be used now. ${error?.message ?? stateTexts[state]}`,
  );
}

const stateTexts: { readonly [State in ServerState]: string } = {
  off: "It is switched off (`enabled: false`).",
  starting: "It is being started.",
  "signing-in": "It waits for you to sign in.",
  ready: "It is ready.",
  restarting: "It is being started again.",
  failed: "It has failed.",
  closed: "It has been closed.",
};

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
  const invoke = () =>
    client.callTool(params, {
      signal,
      timeout: longestTimer, // the runtime keeps the time; its signal ends the call
      onprogress: onProgress,
      allowInputRequired: true,
      toolDefinition,
    });
  try {
    return await server.reach.signedIn(invoke);
  } catch (thrown) {
    signal.throwIfAborted();
    if (isForgotten(thrown)) lose(server, client);
    // A server that went away in the middle of the call has a better reason than "closed".
    throw server.current !== client && server.error ? server.error : serverError(thrown, server.name);
  }
}

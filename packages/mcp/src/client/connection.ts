import {
  type CallToolResult,
  type Client,
  type InputRequiredResult,
  type Tool as McpTool,
  type ProgressCallback,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { AgentError, type ErrorData } from "capstan";
import { isSessionLost, toServerError } from "./server-error.ts";
import { createServerLog, type ServerLog } from "./server-log.ts";
import { type ConnectOptions, connectServer, fetchToolList } from "./transport/connect-server.ts";

/** `signing-in`: waiting for the user to sign in. */
export type ServerState = "off" | "starting" | "signing-in" | "ready" | "restarting" | "failed" | "closed";

export type ConnectionStatus = {
  readonly state: ServerState;
  readonly error?: ErrorData;
  /** Whether the server refused the last attempt because no user has signed in. */
  readonly needsSignIn: boolean;
  /** The negotiated protocol revision. */
  readonly protocolVersion?: string;
  /** Restarts within the last hour. */
  readonly restarts: number;
  /** Lines on stdout that were not messages. */
  readonly junk: number;
  /** Messages that were dropped: responses to unknown requests, invalid shapes. */
  readonly ignored: number;
  /** The last log lines, oldest first. */
  readonly log: readonly string[];
};

export type CallOptions = {
  readonly signal: AbortSignal;
  onProgress: ProgressCallback;
  /** For a call that asked for input: the answers, and the state to send back to the server. */
  readonly resumed?: { readonly inputResponses: Record<string, unknown>; readonly requestState?: string };
};

/** A supervised connection to one server, which is restarted when it fails. */
export interface Connection {
  readonly name: string;
  status(): ConnectionStatus;
  /** Adds a line to the server's log. */
  log(line: string): void;
  /** Resolves when the first attempt to start has succeeded or failed. With `waitsForSignIn`, also waits for a sign-in. */
  start(waitsForSignIn: boolean): Promise<void>;
  /** Returns the client of a running server. Waits while the server restarts. */
  client(signal?: AbortSignal): Promise<Client>;
  call(
    tool: McpTool,
    input: Record<string, unknown>,
    calling: CallOptions,
  ): Promise<CallToolResult | InputRequiredResult>;
  /** Lists the tools again. Starts a failed server first. */
  refresh(): Promise<void>;
  /** Disconnects, and connects again. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

type SupervisedServer = {
  readonly name: string;
  readonly options: ConnectOptions;
  readonly log: ServerLog;
  state: ServerState;
  error: AgentError | undefined;
  needsSignIn: boolean;
  current: Client | undefined;
  /** The current or scheduled start. */
  attempt: Promise<void>;
  /** Resolves when a start needs the user to sign in. */
  readonly signInRequired: PromiseWithResolvers<void>;
  timer: NodeJS.Timeout | undefined;
  /** Ends the wait for a scheduled start. */
  finishWait: (() => void) | undefined;
  /** Times of restarts. */
  restarts: number[];
};

const maxRestarts = 5;
const hourMs = 3_600_000;
const restartDelayMs = 1_000;
const maxTimerMs = 2 ** 31 - 1;

export function openConnection(name: string, connectOptions: ConnectOptions, isEnabled: boolean): Connection {
  const options: ConnectOptions = {
    ...connectOptions,
    withSignIn: (attempt) =>
      connectOptions.withSignIn(() => attempt().catch((thrown) => detectSignIn(server, thrown))),
  };
  const server: SupervisedServer = {
    name,
    options,
    log: createServerLog(),
    state: isEnabled ? "starting" : "off",
    error: undefined,
    needsSignIn: false,
    current: undefined,
    attempt: Promise.resolve(),
    signInRequired: Promise.withResolvers(),
    timer: undefined,
    finishWait: undefined,
    restarts: [],
  };
  return {
    name,
    status: () => getStatus(server),
    log: server.log.log,
    async start(waitsForSignIn) {
      if (server.state === "starting") server.attempt = startServer(server);
      await (waitsForSignIn ? server.attempt : Promise.race([server.attempt, server.signInRequired.promise]));
    },
    client: (signal) => getReadyClient(server, signal),
    call: (tool, input, calling) => callServerTool(server, { tool, input }, calling),
    async refresh() {
      if (server.current) {
        await fetchToolList(server.current, options);
        server.needsSignIn = false;
        return;
      }
      if (server.state === "failed" || server.state === "restarting") await startNow(server);
    },
    async restart() {
      if (server.state === "off" || server.state === "closed" || server.state === "signing-in") return;
      if (server.state === "starting") await server.attempt;
      const client = server.current;
      server.current = undefined;
      await client?.close();
      await startNow(server);
    },
    async close() {
      clearTimeout(server.timer);
      if (server.state === "restarting") server.finishWait?.();
      server.state = "closed";
      await server.attempt;
      const client = server.current;
      server.current = undefined;
      await client?.close();
    },
  };
}

function getStatus({
  state,
  error,
  needsSignIn,
  current,
  restarts,
  log,
}: SupervisedServer): ConnectionStatus {
  const protocolVersion = current?.getNegotiatedProtocolVersion();
  return {
    state,
    needsSignIn,
    ...(error && { error: { code: error.code, message: error.message, retryable: error.retryable } }),
    ...(protocolVersion !== undefined && { protocolVersion }),
    restarts: restarts.length,
    ...log.counts,
    log: log.tail(),
  };
}

/** Starts without waiting for a scheduled restart. */
async function startNow(server: SupervisedServer): Promise<void> {
  clearTimeout(server.timer);
  const { finishWait } = server;
  server.restarts = [];
  server.state = "starting";
  server.attempt = startServer(server);
  await server.attempt;
  finishWait?.();
}

async function startServer(server: SupervisedServer): Promise<void> {
  try {
    const connect = () =>
      connectServer(server.options, server.log, (lostClient, reason) =>
        onConnectionLost(server, lostClient, reason),
      );
    const client = await server.options.withSignIn(connect);
    if (server.state === "closed") return client.close();
    server.current = client;
    server.error = undefined;
    server.needsSignIn = false;
    server.state = "ready";
  } catch (thrown) {
    scheduleRestart(server, thrown);
  }
}

/** Lets `start` return before the user has signed in, so that other servers are not held up. */
function detectSignIn(server: SupervisedServer, thrown: unknown): never {
  if (thrown instanceof UnauthorizedError) server.needsSignIn = true;
  if (thrown instanceof UnauthorizedError && isStarting(server)) {
    server.state = "signing-in";
    server.signInRequired.resolve();
  }
  throw thrown;
}

function onConnectionLost(server: SupervisedServer, client: Client, reason?: AgentError): void {
  if (server.current !== client) return;
  server.current = undefined;
  scheduleRestart(
    server,
    reason ?? new AgentError("mcp_disconnected", `The MCP server "${server.name}" disconnected.`),
  );
}

/** Schedules a restart with growing delays. Gives up after too many restarts. */
function scheduleRestart(server: SupervisedServer, thrown: unknown): void {
  if (server.state === "closed") return;
  const error = toServerError(thrown, server.name);
  server.error = error;
  server.log.log(error.message);
  server.restarts = server.restarts.filter((at) => at > performance.now() - hourMs);
  if (!error.retryable || server.restarts.length >= maxRestarts) {
    server.state = "failed";
    return;
  }
  server.state = "restarting";
  const waitMs = restartDelayMs * 2 ** server.restarts.length;
  const { promise, resolve } = Promise.withResolvers<void>();
  server.attempt = promise;
  server.finishWait = resolve;
  server.timer = setTimeout(() => {
    server.restarts.push(performance.now());
    server.state = "starting";
    void startServer(server).then(resolve);
  }, waitMs);
  // A pending restart must not keep the process alive.
  server.timer.unref();
}

async function getReadyClient(server: SupervisedServer, signal?: AbortSignal): Promise<Client> {
  const timeout = AbortSignal.any([AbortSignal.timeout(server.options.startMs), ...(signal ? [signal] : [])]);
  const connectOptions = new Promise<void>((resolve) => {
    timeout.addEventListener("abort", () => resolve(), { once: true });
  });
  while (!server.current && isStarting(server) && !timeout.aborted)
    await Promise.race([server.attempt, connectOptions]);
  signal?.throwIfAborted();
  if (server.current) return server.current;
  const { state, error, name } = server;
  throw new AgentError(
    "mcp_disconnected",
    `The MCP server "${name}" is not available. ${error?.message ?? stateMessages[state]}`,
  );
}

const stateMessages: { readonly [State in ServerState]: string } = {
  off: "It is disabled (`enabled: false`).",
  starting: "It is starting.",
  "signing-in": "Sign-in required.",
  ready: "It is ready.",
  restarting: "It is restarting.",
  failed: "It failed.",
  closed: "It was closed.",
};

function isStarting({ state }: SupervisedServer): boolean {
  return state === "restarting" || state === "starting";
}

async function callServerTool(
  server: SupervisedServer,
  { tool, input }: { readonly tool: McpTool; readonly input: Record<string, unknown> },
  { signal, onProgress, resumed }: CallOptions,
): Promise<CallToolResult | InputRequiredResult> {
  const client = await getReadyClient(server, signal);
  // The runtime validates the result in linear time, whatever the schema contains.
  const { outputSchema: _unchecked, ...toolDefinition } = tool;
  const params = { name: tool.name, arguments: input, ...resumed } as Parameters<Client["callTool"]>[0];
  const callTool = () =>
    client.callTool(params, {
      signal,
      timeout: maxTimerMs, // the runtime enforces the timeout through the signal
      onprogress: onProgress,
      allowInputRequired: true,
      toolDefinition,
    });
  try {
    return await server.options.withSignIn(callTool);
  } catch (thrown) {
    signal.throwIfAborted();
    if (isSessionLost(thrown)) onConnectionLost(server, client);
    // If the server failed during the call, its own error is more specific than "closed".
    throw server.current !== client && server.error ? server.error : toServerError(thrown, server.name);
  }
}

import {
  Client,
  type ClientOptions,
  type Tool as McpTool,
  type Transport,
} from "@modelcontextprotocol/client";
import { AgentError, isRecord } from "capstan";
import { isConnectionClosed } from "../server-error.ts";
import type { ServerLog } from "../server-log.ts";
import { trackRequests } from "./end-cut-requests.ts";
import type { StdioTransport } from "./stdio-transport.ts";
import type { Traffic } from "./traffic.ts";

export type ConnectOptions = {
  readonly clientOptions: ClientOptions;
  /** Milliseconds for the handshake, and again for listing the tools. */
  readonly startMs: number;
  readonly traffic: Traffic;
  createTransport(log: ServerLog): Transport;
  /** Makes an attempt, and repeats it after the user has signed in if that is required. */
  withSignIn<Done>(attempt: () => Promise<Done>): Promise<Done>;
  /** Registers handlers for requests of the server. */
  prepare(client: Client): void;
  /** Called with every tool list. */
  onTools(tools: readonly McpTool[], client: Client): void;
};

const maxContentItems = 1_000;
const maxListItems = 10_000;

/** Older servers may not respond to an unknown request. */
const maxProbeMs = 4_000;

/** Connects once. `onLost` is called when an established connection ends, with the reason if known. */
export async function connectServer(
  options: ConnectOptions,
  log: ServerLog,
  onLost: (client: Client, reason: AgentError | undefined) => void,
): Promise<Client> {
  try {
    return await attemptConnect(options, log, { onLost, isLegacy: false });
  } catch (thrown) {
    // Some older servers exit when they receive a request before the handshake.
    if (!(thrown instanceof ExitedDuringProbe)) throw thrown;
    return attemptConnect(options, log, { onLost, isLegacy: true });
  }
}

class ExitedDuringProbe extends Error {}

type AttemptOptions = {
  onLost(client: Client, reason: AgentError | undefined): void;
  readonly isLegacy: boolean;
};

async function attemptConnect(
  options: ConnectOptions,
  log: ServerLog,
  { onLost, isLegacy }: AttemptOptions,
): Promise<Client> {
  const { startMs } = options;
  const signal = AbortSignal.timeout(startMs);
  const client = new Client(
    { name: "capstan", version: "0.1.0" },
    {
      ...options.clientOptions,
      versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(maxProbeMs, startMs / 2) } },
    },
  );
  let reason: AgentError | undefined;
  options.prepare(client);
  const transport = options.createTransport(log);
  const requestTracker = trackRequests(transport);
  options.traffic.watch(transport);
  transport.onerror = (problem) => {
    if (problem instanceof AgentError) reason ??= problem;
    requestTracker.onError(problem);
  };
  transport.onmessage = (message) => {
    requestTracker.onMessage(message);
    truncateMessage(message);
    options.traffic.receive(message);
  };
  client.onerror = log.ignore;
  let hasStarted = false;
  client.onclose = () => {
    if (hasStarted) onLost(client, reason ?? getProcessExit(transport));
  };
  try {
    await client.connect(transport, {
      timeout: startMs,
      signal,
      ...(isLegacy && { prior: { kind: "legacy" } }),
    });
    await fetchToolList(client, options);
    hasStarted = true;
    return client;
  } catch (thrown) {
    const processExit = getProcessExit(transport); // before we close it ourselves
    await Promise.all([client.close(), transport.close()]).catch(() => undefined);
    const isChild = "pid" in transport;
    if (isChild && !isLegacy && !reason && isConnectionClosed(thrown)) throw new ExitedDuringProbe();
    throw reason ?? processExit ?? thrown;
  }
}

function getProcessExit(transport: Transport & Partial<StdioTransport>): AgentError | undefined {
  if (transport.ended === undefined) return undefined;
  return new AgentError("mcp_disconnected", `The MCP server process exited ${transport.ended}.`);
}

/** Lists all pages of tools. */
export async function fetchToolList(
  client: Client,
  { startMs, withSignIn, onTools }: ConnectOptions,
): Promise<void> {
  if (!client.getServerCapabilities()?.tools) return onTools([], client);
  const { tools } = await withSignIn(() => {
    const signal = AbortSignal.timeout(startMs);
    return client.listTools(undefined, { signal, timeout: startMs, cacheMode: "refresh" });
  });
  onTools(tools, client);
}

/** Truncates long lists before the SDK validates them: it produces a page of text for every invalid item. */
export function truncateMessage(message: object): void {
  const result = "result" in message && isRecord(message.result) ? message.result : {};
  for (const [field, items] of Object.entries(result)) {
    if (!Array.isArray(items)) continue;
    const maxItems = field === "content" ? maxContentItems : maxListItems;
    if (items.length <= maxItems) continue;
    const omitted = items.length - maxItems;
    items.length = maxItems;
    if (field === "content") items.push({ type: "text", text: `(${omitted} more items omitted)` });
  }
}

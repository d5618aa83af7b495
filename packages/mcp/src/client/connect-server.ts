import {
  Client,
  type ClientOptions,
  type Tool as McpTool,
  type Transport,
} from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import { cutAnswers } from "./cut-answers.ts";
import { cutShort } from "./cut-short.ts";
import type { StdioTransport } from "./guarded-stdio.ts";
import { isClosing } from "./server-error.ts";
import type { ServerLog } from "./server-log.ts";

/** How to reach a server and what to do with it. */
export type Reach = {
  readonly clientOptions: ClientOptions;
  /** Milliseconds for the handshake, and again for the list of tools. */
  readonly startMs: number;
  transport(log: ServerLog): Transport;
  /** Makes an attempt; once more when a person had to sign in first. */
  signedIn<Done>(attempt: () => Promise<Done>): Promise<Done>;
  /** Registers what the server may ask of us. */
  prepare(client: Client): void;
  /** Hears of every list of tools. */
  onTools(tools: readonly McpTool[], client: Client): void;
};

/** An older server may answer nothing to a question it does not know. */
const longestProbeMs = 4_000;

/** One attempt. `onLost` hears when a server that was there goes away, and why, if it is known. */
export async function connectServer(
  reach: Reach,
  log: ServerLog,
  onLost: (client: Client, why: AgentError | undefined) => void,
): Promise<Client> {
  try {
    return await attempt(reach, log, { onLost, isOlder: false });
  } catch (thrown) {
    // Some older servers leave when they are asked something before the handshake.
    if (!(thrown instanceof LeftEarly)) throw thrown;
    return attempt(reach, log, { onLost, isOlder: true });
  }
}

class LeftEarly extends Error {}

type Manner = {
  onLost(client: Client, why: AgentError | undefined): void;
  readonly isOlder: boolean;
};

async function attempt(reach: Reach, log: ServerLog, { onLost, isOlder }: Manner): Promise<Client> {
  const { startMs } = reach;
  const signal = AbortSignal.timeout(startMs);
  const client = new Client(
    { name: "capstan", version: "0.1.0" },
    {
      ...reach.clientOptions,
      versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(longestProbeMs, startMs / 2) } },
    },
  );
  let why: AgentError | undefined;
  reach.prepare(client);
  const transport = reach.transport(log);
  const cut = cutAnswers(transport);
  transport.onerror = (problem) => {
    if (problem instanceof AgentError) why ??= problem;
    cut.failed(problem);
  };
  transport.onmessage = (message) => {
    cut.heard(message);
    cutShort(message);
  };
  client.onerror = log.ignored;
  let hasStarted = false;
  client.onclose = () => {
    if (hasStarted) onLost(client, why ?? endOf(transport));
  };
  try {
    await client.connect(transport, {
      timeout: startMs,
      signal,
      ...(isOlder && { prior: { kind: "legacy" } }),
    });
    await listTools(client, reach);
    hasStarted = true;
    return client;
  } catch (thrown) {
    const end = endOf(transport); // not the one that we bring about
    await Promise.all([client.close(), transport.close()]).catch(() => undefined);
    const isChild = "pid" in transport;
    if (isChild && !isOlder && !why && isClosing(thrown)) throw new LeftEarly();
    throw why ?? end ?? thrown;
  }
}

function endOf(transport: Transport & Partial<StdioTransport>): AgentError | undefined {
  if (transport.ended === undefined) return undefined;
  return new AgentError("mcp_disconnected", `The process of the MCP server ended ${transport.ended}.`);
}

/** Asks for the tools of a server, all pages of them. */
export async function listTools(client: Client, { startMs, signedIn, onTools }: Reach): Promise<void> {
  if (!client.getServerCapabilities()?.tools) return onTools([], client);
  const { tools } = await signedIn(() => {
    const signal = AbortSignal.timeout(startMs);
    return client.listTools(undefined, { signal, timeout: startMs, cacheMode: "refresh" });
  });
  onTools(tools, client);
}

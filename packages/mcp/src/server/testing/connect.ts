import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export type Era = "modern" | "legacy";

type ConnectTestOptions = {
  readonly user?: string;
  readonly headers?: Record<string, string>;
  readonly capabilities?: ClientCapabilities;
  /** Called before the client connects. */
  readonly prepare?: (client: Client) => void;
};

export const clientInfo = { name: "test", version: "1" };

/** Protocol versions to negotiate, by era. */
export const versionNegotiation = {
  modern: { mode: { pin: "2026-07-28" } },
  legacy: { mode: "legacy" },
} as const;

/** Connects the official SDK (v2) over HTTP in the given era. */
export async function connect(
  url: URL,
  era: Era,
  { user, headers, capabilities = {}, prepare }: ConnectTestOptions = {},
): Promise<Client> {
  const client = new Client(clientInfo, { capabilities, versionNegotiation: versionNegotiation[era] });
  prepare?.(client);
  const allHeaders = { ...headers, ...(user !== undefined && { "x-user": user }) };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: allHeaders } }));
  return client;
}

/** Connects the official SDK (v1), which supports the 2025 revisions only. */
export async function connectV1(url: URL, { user }: ConnectTestOptions = {}): Promise<ClientV1> {
  const client = new ClientV1(clientInfo);
  const headers: Record<string, string> = user === undefined ? {} : { "x-user": user };
  // The SDK's types conflict with `exactOptionalPropertyTypes`.
  const transport: unknown = new TransportV1(url, { requestInit: { headers } });
  await client.connect(transport as Parameters<ClientV1["connect"]>[0]);
  return client;
}

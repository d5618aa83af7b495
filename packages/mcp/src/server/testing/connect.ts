import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export type Era = "modern" | "legacy";

type Options = {
  readonly user?: string;
  readonly headers?: Record<string, string>;
  readonly capabilities?: ClientCapabilities;
  /** Before it connects. */
  readonly prepare?: (client: Client) => void;
};

export const info = { name: "test", version: "1" };

/** What both eras of a client are asked to speak. */
export const negotiation = {
  modern: { mode: { pin: "2026-07-28" } },
  legacy: { mode: "legacy" },
} as const;

/** The official client of the second generation, in the given era, over HTTP. */
export async function connect(
  url: URL,
  era: Era,
  { user, headers, capabilities = {}, prepare }: Options = {},
): Promise<Client> {
  const client = new Client(info, { capabilities, versionNegotiation: negotiation[era] });
  prepare?.(client);
  const all = { ...headers, ...(user !== undefined && { "x-user": user }) };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: all } }));
  return client;
}

/** The official client of the first generation, which knows the 2025 era alone. */
export async function connectV1(url: URL, { user }: Options = {}): Promise<ClientV1> {
  const client = new ClientV1(info);
  const headers: Record<string, string> = user === undefined ? {} : { "x-user": user };
  // Its own types do not agree with `exactOptionalPropertyTypes`.
  const transport: unknown = new TransportV1(url, { requestInit: { headers } });
  await client.connect(transport as Parameters<ClientV1["connect"]>[0]);
  return client;
}

import type { ClientOptions } from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import type { Service } from "./call-server.ts";
import { cappedFetch } from "./capped-fetch.ts";
import type { Common, ServerConfig } from "./config.ts";
import { type Connection, type ConnectionStatus, openConnection } from "./connection.ts";
import { listenToServer, desk as openDesk } from "./desk.ts";
import { type OAuthOptions, oauthProvider, type SignInProvider } from "./oauth/oauth-provider.ts";
import { withSignIn } from "./oauth/with-sign-in.ts";
import { openCalls } from "./open-calls.ts";
import type { Sampling } from "./sampling.ts";
import { type ChangedTool, type ToolList, toolList } from "./tool-list.ts";
import { transportTo } from "./transport.ts";
import type { Trust } from "./trust.ts";

/** How a server is doing and what it offers. */
export type ServerStatus = ConnectionStatus & {
  readonly name: string;
  /** The names of its tools, as the model knows them. */
  readonly tools: readonly string[];
  /** Tools that are off until they are trusted again. */
  readonly changed: readonly ChangedTool[];
  /** Why some tools are not offered, or are looked at with suspicion. */
  readonly problems: readonly string[];
};

/** A server in use: its connection and its tools. */
export type Server = { readonly connection: Connection; readonly list: ToolList; close(): Promise<void> };

/** How people sign in, and where their tokens are kept. */
export type SignIn = Pick<OAuthOptions, "tokens" | "redirect" | "clientName">;

export type ServerOptions = {
  readonly fetch: typeof globalThis.fetch;
  readonly signIn: SignIn | undefined;
  readonly trust: Trust;
  readonly roots: readonly string[];
  readonly sampling: Sampling | undefined;
  /** Whether a server that says its tools have changed is asked for them. */
  readonly hearsChanges: boolean;
};

const defaultStartMs = 10_000;

/** A server whose configuration cannot be used is there too, so that its status tells why. */
export function openServer(
  name: string,
  configured: ServerConfig | AgentError,
  options: ServerOptions,
): Server {
  const { trust, roots, sampling } = options;
  const config: Common = configured instanceof AgentError ? {} : configured;
  const signInProvider =
    configured instanceof AgentError ? undefined : providerFor(name, configured, options);
  const closing = new AbortController();
  const desk = openDesk({ server: name, roots, sampling, log: (line) => connection.log(line) });
  const calls = openCalls(desk);
  const connection: Connection = openConnection(
    name,
    {
      startMs: config.startTimeout ?? defaultStartMs,
      clientOptions: clientOptions(options.hearsChanges, () => connection.refresh()),
      transport(log) {
        if (configured instanceof AgentError) throw configured;
        return transportTo(configured, log, { fetch: options.fetch, signInProvider });
      },
      signedIn: (attempt) =>
        signInProvider ? withSignIn(signInProvider, attempt, closing.signal) : attempt(),
      prepare: (client) => listenToServer(client, { sampling, roots }, calls.hear),
      onTools(tools, client) {
        list.update(tools, client.getServerVersion()?.name ?? "");
        trust
          .saved()
          .catch((error: Error) => connection.log(`What is trusted cannot be kept: ${error.message}`));
      },
    },
    config.enabled ?? true,
  );
  const service: Service = { connection, desk, calls };
  const list: ToolList = toolList({ server: name, config, service, trust });
  return {
    connection,
    list,
    async close() {
      closing.abort();
      await connection.close();
    },
  };
}

/** A server with a key of its own in its headers needs nobody to sign in. */
function providerFor(
  server: string,
  config: ServerConfig,
  options: ServerOptions,
): SignInProvider | undefined {
  const { signIn, fetch } = options;
  if (!signIn || !("url" in config) || config.type === "http-rest") return undefined;
  if (Object.keys(config.headers ?? {}).some((header) => header.toLowerCase() === "authorization"))
    return undefined;
  return oauthProvider({
    server,
    serverUrl: config.url,
    fetch: cappedFetch(fetch),
    ...signIn,
    ...config.oauth,
  });
}

export function serverStatus({ connection, list }: Server): ServerStatus {
  const { tools, changed, problems } = list;
  return {
    name: connection.name,
    ...connection.status(),
    tools: tools.map(({ name }) => name),
    changed,
    problems,
  };
}

function clientOptions(hearsChanges: boolean, refresh: () => Promise<void>): ClientOptions {
  return {
    // The runtime checks results itself, in time that is linear whatever a schema says.
    jsonSchemaValidator: {
      getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
    },
    ...(hearsChanges && {
      listChanged: {
        // A list that cannot be had now stays what it was; the connection tells of its trouble itself.
        tools: { autoRefresh: false, onChanged: () => void refresh().catch(() => undefined) },
      },
    }),
  };
}

import type { ClientOptions } from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import { formatCommand } from "./config/format-command.ts";
import type { CommonConfig, ServerConfig } from "./config/server-config.ts";
import { type Connection, openConnection } from "./connection.ts";
import { createOAuthProvider, type OAuthOptions, type SignInProvider } from "./oauth/oauth-provider.ts";
import { withSignIn } from "./oauth/with-sign-in.ts";
import { createOpenCalls } from "./requests/open-calls.ts";
import { createRequestHandler, registerRequestHandlers } from "./requests/request-handler.ts";
import type { Sampling } from "./requests/sampling.ts";
import type { ServerService } from "./tools/call-tool.ts";
import { createToolList, type ToolList } from "./tools/tool-list.ts";
import type { TrustStore } from "./tools/trust.ts";
import { withSizeLimit } from "./transport/capped-fetch.ts";
import { createTransport } from "./transport/create-transport.ts";
import { createTraffic, listSecrets, type Traffic } from "./transport/traffic.ts";

export type Server = {
  readonly connection: Connection;
  readonly toolList: ToolList;
  readonly traffic: Traffic;
  readonly address: string | undefined;
  isSignedIn(): boolean;
  /** Forgets the tokens of a sign-in, and connects again without them. */
  signOut(): Promise<void>;
  close(): Promise<void>;
};

/** How users sign in, and where their tokens are stored. */
export type SignIn = Pick<OAuthOptions, "tokens" | "redirect" | "clientName">;

export type ServerOptions = {
  readonly fetch: typeof globalThis.fetch;
  readonly signIn: SignIn | undefined;
  readonly trust: TrustStore;
  readonly roots: readonly string[];
  readonly sampling: Sampling | undefined;
  /** Whether to list tools again when the server announces a change. */
  readonly watchesToolList: boolean;
};

const defaultStartMs = 10_000;

/** Also accepts a configuration error, so that `status()` can report it. */
export function openServer(
  name: string,
  configOrError: ServerConfig | AgentError,
  options: ServerOptions,
): Server {
  const { trust, roots, sampling } = options;
  const config: CommonConfig = configOrError instanceof AgentError ? {} : configOrError;
  const signInProvider =
    configOrError instanceof AgentError ? undefined : createSignInProvider(name, configOrError, options);
  const traffic = createTraffic(configOrError instanceof AgentError ? [] : listSecrets(configOrError));
  const shutdown = new AbortController();
  const requestHandler = createRequestHandler({
    server: name,
    roots,
    sampling,
    log: (line) => connection.log(line),
  });
  const calls = createOpenCalls(requestHandler);
  const connection: Connection = openConnection(
    name,
    {
      startMs: config.startTimeout ?? defaultStartMs,
      traffic,
      clientOptions: createClientOptions(options.watchesToolList, () => connection.refresh()),
      createTransport(log) {
        if (configOrError instanceof AgentError) throw configOrError;
        return createTransport(configOrError, log, { fetch: options.fetch, signInProvider });
      },
      withSignIn: (attempt) =>
        signInProvider ? withSignIn(signInProvider, attempt, shutdown.signal) : attempt(),
      prepare: (client) => registerRequestHandlers(client, { sampling, roots }, calls.handleRequest),
      onTools(tools, client) {
        toolList.update(tools, client.getServerVersion()?.name ?? "");
        trust
          .save()
          .catch((error: Error) => connection.log(`Could not save trusted tools: ${error.message}`));
      },
    },
    config.enabled ?? true,
  );
  const service: ServerService = { connection, requestHandler, calls };
  const toolList: ToolList = createToolList({ server: name, config, service, trust });
  return {
    connection,
    toolList,
    traffic,
    address: configOrError instanceof AgentError ? undefined : formatAddress(configOrError),
    isSignedIn: () => signInProvider?.isSignedIn() ?? false,
    async signOut() {
      await signInProvider?.signOut();
      await connection.restart();
    },
    async close() {
      shutdown.abort();
      await connection.close();
    },
  };
}

/** A server with an `Authorization` header in its configuration does not need sign-in. */
function createSignInProvider(
  server: string,
  config: ServerConfig,
  options: ServerOptions,
): SignInProvider | undefined {
  const { signIn, fetch } = options;
  if (!signIn || !("url" in config) || config.type === "http-rest") return undefined;
  if (Object.keys(config.headers ?? {}).some((header) => header.toLowerCase() === "authorization"))
    return undefined;
  return createOAuthProvider({
    server,
    serverUrl: config.url,
    fetch: withSizeLimit(fetch),
    ...signIn,
    ...config.oauth,
  });
}

/** Arguments, queries and user names may contain secrets. */
function formatAddress(config: ServerConfig): string {
  if ("command" in config) return formatCommand(config);
  const { origin, pathname } = new URL(config.url);
  return `${origin}${pathname}`;
}

function createClientOptions(hearsChanges: boolean, refresh: () => Promise<void>): ClientOptions {
  return {
    // The runtime validates results itself, in linear time whatever the schema contains.
    jsonSchemaValidator: {
      getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
    },
    ...(hearsChanges && {
      listChanged: {
        // On failure the old list stays; the connection reports the error itself.
        tools: { autoRefresh: false, onChanged: () => void refresh().catch(() => undefined) },
      },
    }),
  };
}

// A small MCP server behind OAuth with its own authorization server, on loopback: metadata (RFC 9728, RFC 8414),
// registration, automatic consent, codes with PKCE, and single-use refresh tokens.
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";

const resourcePath = "/.well-known/oauth-protected-resource/mcp";

/** Overrides for dishonest or broken servers. */
export type Behavior = {
  /** The public origin, if it differs from the listener. */
  origin?: string;
  resourceMetadata?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  /** The metadata URL in the 401 response. */
  resourceMetadataUrl?: string;
  /** Added to the redirect back to the client. */
  callback?: Record<string, string>;
  tokens?: Record<string, unknown>;
  /** Handles a request itself if it returns true. */
  intercept?: (request: RecordedRequest, response: ServerResponse) => boolean;
};

export type RecordedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

type Grant = { readonly challenge: string; readonly redirectUri: string; readonly clientId: string };

export type OAuthServer = {
  readonly url: string;
  readonly origin: string;
  readonly behavior: Behavior;
  readonly requests: RecordedRequest[];
  /** Codes, verifiers and tokens, which must never be shown. */
  readonly secrets: Set<string>;
  /** Invalidates all access tokens. */
  expire(): void;
  close(): Promise<void>;
};

export async function startOAuthServer(behavior: Behavior = {}): Promise<OAuthServer> {
  const requests: RecordedRequest[] = [];
  const secrets = new Set<string>();
  const state: State = {
    behavior,
    secrets,
    codes: new Map(),
    access: new Set(),
    refresh: new Set(),
    origin: "",
  };
  const handler = createEchoHandler();
  const mcp = getRequestListener((request) => handler.fetch(request));
  const listener = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://here");
    const [, token] = (request.headers.authorization ?? "").split("Bearer ");
    if (pathname === "/mcp" && token !== undefined && state.access.has(token)) {
      requests.push({
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body: "",
      });
      return mcp(request, response);
    }
    const recorded = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: await readRequestBody(request),
    };
    requests.push(recorded);
    if (behavior.intercept?.(recorded, response) !== true) handleRequest(state, recorded, response);
  });
  listener.listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  state.origin = behavior.origin ?? `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    origin: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    url: `${state.origin}/mcp`,
    behavior,
    requests,
    secrets,
    expire: () => state.access.clear(),
    async close() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

type State = {
  readonly behavior: Behavior;
  readonly secrets: Set<string>;
  readonly codes: Map<string, Grant>;
  readonly access: Set<string>;
  readonly refresh: Set<string>;
  origin: string;
};

function handleRequest(state: State, { path, body }: RecordedRequest, response: ServerResponse): void {
  const { origin, behavior } = state;
  const { pathname, searchParams } = new URL(path, origin);
  if (pathname === "/mcp") {
    const at = behavior.resourceMetadataUrl ?? `${origin}${resourcePath}`;
    response.setHeader("www-authenticate", `Bearer resource_metadata="${at}", scope="tools"`);
    sendJson(response, 401, { error: "invalid_token" });
  } else if (pathname === resourcePath) {
    const metadata = { resource: `${origin}/mcp`, authorization_servers: [origin] };
    sendJson(response, 200, { ...metadata, ...behavior.resourceMetadata });
  } else if (pathname === "/.well-known/oauth-authorization-server")
    sendJson(response, 200, { ...buildMetadata(origin), ...behavior.metadata });
  else if (pathname === "/register")
    sendJson(response, 201, { ...JSON.parse(body), client_id: `client-${randomBytes(4).toString("hex")}` });
  else if (pathname === "/authorize") authorize(state, searchParams, response);
  else if (pathname === "/token") issueTokens(state, new URLSearchParams(body), response);
  else sendJson(response, 404, {});
}

function buildMetadata(origin: string): Record<string, unknown> {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
    authorization_response_iss_parameter_supported: true,
  };
}

function authorize(state: State, query: URLSearchParams, response: ServerResponse): void {
  const [challenge = "", redirectUri = "", clientId = ""] = [
    "code_challenge",
    "redirect_uri",
    "client_id",
  ].map((name) => query.get(name) ?? "");
  const code = createSecret(state, "code");
  state.codes.set(code, { challenge, redirectUri, clientId });
  const back = new URL(redirectUri);
  const given = { code, state: query.get("state") ?? "", iss: state.origin, ...state.behavior.callback };
  for (const [name, value] of Object.entries(given)) back.searchParams.set(name, value);
  response.writeHead(302, { location: back.href }).end();
}

function issueTokens(state: State, form: URLSearchParams, response: ServerResponse): void {
  const grant = state.codes.get(form.get("code") ?? "");
  const verifier = form.get("code_verifier") ?? "";
  if (verifier) state.secrets.add(verifier);
  const isCode =
    grant !== undefined &&
    grant.challenge === createHash("sha256").update(verifier).digest("base64url") &&
    grant.redirectUri === form.get("redirect_uri");
  // Codes and refresh tokens are single-use.
  const isGood =
    (isCode && state.codes.delete(form.get("code") ?? "")) ||
    state.refresh.delete(form.get("refresh_token") ?? "");
  if (!isGood) {
    sendJson(response, 400, { error: "invalid_grant", error_description: `Invalid grant: ${form}` });
    return;
  }
  const [access, refresh] = [createSecret(state, "access"), createSecret(state, "refresh")];
  state.access.add(access);
  state.refresh.add(refresh);
  const tokens = {
    access_token: access,
    refresh_token: refresh,
    token_type: "Bearer",
    expires_in: 3600,
    scope: "tools",
  };
  sendJson(response, 200, { ...tokens, ...state.behavior.tokens });
}

function createSecret({ secrets }: State, kind: string): string {
  const value = `canary-${kind}-${randomBytes(12).toString("hex")}`;
  secrets.add(value);
  return value;
}

function createEchoHandler(): ReturnType<typeof createMcpHandler> {
  return createMcpHandler(() => {
    const server = new McpServer({ name: "guarded", version: "1.0.0" });
    const inputSchema = fromJsonSchema<{ text: string }>({
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    });
    server.registerTool("echo", { inputSchema }, async ({ text }) => ({ content: [{ type: "text", text }] }));
    return server;
  });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function readRequestBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

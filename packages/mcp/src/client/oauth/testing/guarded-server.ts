// A small MCP server behind OAuth, with its own authorization server, on loopback: metadata (RFC 9728, RFC 8414),
// registration, consent without a person, codes with PKCE, and refresh tokens that may be used once.
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";

const resourcePath = "/.well-known/oauth-protected-resource/mcp";

/** What a server that is not honest, or not well, does differently. */
export type Behaviour = {
  /** Under which origin it is known, when its clients reach it by another way than its port. */
  origin?: string;
  resourceMetadata?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  /** Where the 401 says that the metadata lies. */
  resourceMetadataUrl?: string;
  /** Added to the answer that goes back to the client. */
  callback?: Record<string, string>;
  tokens?: Record<string, unknown>;
  /** Answers a request in its own way, when it says true. */
  intercept?: (request: Seen, response: ServerResponse) => boolean;
};

/** A request as it arrived. */
export type Seen = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

type Grant = { readonly challenge: string; readonly redirectUri: string; readonly clientId: string };

/** A running server. */
export type GuardedServer = {
  readonly url: string;
  readonly origin: string;
  readonly behaviour: Behaviour;
  readonly seen: Seen[];
  /** Everything that must never be shown: codes, verifiers, tokens. */
  readonly secrets: Set<string>;
  /** Makes all access tokens worthless, as time does. */
  expire(): void;
  close(): Promise<void>;
};

/** Starts one. */
export async function guardedServer(behaviour: Behaviour = {}): Promise<GuardedServer> {
  const seen: Seen[] = [];
  const secrets = new Set<string>();
  const state: State = {
    behaviour,
    secrets,
    codes: new Map(),
    access: new Set(),
    refresh: new Set(),
    origin: "",
  };
  const handler = mcpHandler();
  const mcp = getRequestListener((request) => handler.fetch(request));
  const listener = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://here");
    const [, token] = (request.headers.authorization ?? "").split("Bearer ");
    if (pathname === "/mcp" && token !== undefined && state.access.has(token)) {
      seen.push({
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body: "",
      });
      return mcp(request, response);
    }
    const one = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: await bodyOf(request),
    };
    seen.push(one);
    if (behaviour.intercept?.(one, response) !== true) answer(state, one, response);
  });
  listener.listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  state.origin = behaviour.origin ?? `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    origin: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    url: `${state.origin}/mcp`,
    behaviour,
    seen,
    secrets,
    expire: () => state.access.clear(),
    async close() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

type State = {
  readonly behaviour: Behaviour;
  readonly secrets: Set<string>;
  readonly codes: Map<string, Grant>;
  readonly access: Set<string>;
  readonly refresh: Set<string>;
  origin: string;
};

function answer(state: State, { path, body }: Seen, response: ServerResponse): void {
  const { origin, behaviour } = state;
  const { pathname, searchParams } = new URL(path, origin);
  if (pathname === "/mcp") {
    const at = behaviour.resourceMetadataUrl ?? `${origin}${resourcePath}`;
    response.setHeader("www-authenticate", `Bearer resource_metadata="${at}", scope="tools"`);
    json(response, 401, { error: "invalid_token" });
  } else if (pathname === resourcePath) {
    const metadata = { resource: `${origin}/mcp`, authorization_servers: [origin] };
    json(response, 200, { ...metadata, ...behaviour.resourceMetadata });
  } else if (pathname === "/.well-known/oauth-authorization-server")
    json(response, 200, { ...metadataOf(origin), ...behaviour.metadata });
  else if (pathname === "/register")
    json(response, 201, { ...JSON.parse(body), client_id: `client-${randomBytes(4).toString("hex")}` });
  else if (pathname === "/authorize") authorize(state, searchParams, response);
  else if (pathname === "/token") token(state, new URLSearchParams(body), response);
  else json(response, 404, {});
}

function metadataOf(origin: string): Record<string, unknown> {
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
  const code = secret(state, "code");
  state.codes.set(code, { challenge, redirectUri, clientId });
  const back = new URL(redirectUri);
  const given = { code, state: query.get("state") ?? "", iss: state.origin, ...state.behaviour.callback };
  for (const [name, value] of Object.entries(given)) back.searchParams.set(name, value);
  response.writeHead(302, { location: back.href }).end();
}

function token(state: State, form: URLSearchParams, response: ServerResponse): void {
  const grant = state.codes.get(form.get("code") ?? "");
  const verifier = form.get("code_verifier") ?? "";
  if (verifier) state.secrets.add(verifier);
  const isCode =
    grant !== undefined &&
    grant.challenge === createHash("sha256").update(verifier).digest("base64url") &&
    grant.redirectUri === form.get("redirect_uri");
  // A code and a refresh token are good for one use.
  const isGood =
    (isCode && state.codes.delete(form.get("code") ?? "")) ||
    state.refresh.delete(form.get("refresh_token") ?? "");
  if (!isGood) {
    json(response, 400, { error: "invalid_grant", error_description: `No good: ${form}` });
    return;
  }
  const [access, refresh] = [secret(state, "access"), secret(state, "refresh")];
  state.access.add(access);
  state.refresh.add(refresh);
  const tokens = {
    access_token: access,
    refresh_token: refresh,
    token_type: "Bearer",
    expires_in: 3600,
    scope: "tools",
  };
  json(response, 200, { ...tokens, ...state.behaviour.tokens });
}

function secret({ secrets }: State, kind: string): string {
  const value = `canary-${kind}-${randomBytes(12).toString("hex")}`;
  secrets.add(value);
  return value;
}

function mcpHandler(): ReturnType<typeof createMcpHandler> {
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

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

// Hand-written instead of `hono/cors`, which answers every OPTIONS request and takes a fixed list of allowed headers:
// here only preflights of listed origins are answered, and headers that match a pattern are allowed.

/** CORS headers for pages of the listed origins. */
export interface Cors {
  /** Returns the response to a preflight of a listed origin, undefined for any other request. */
  answerPreflight(request: Request): Response | undefined;
  /** Returns the headers that let the requesting page read the response. */
  getHeaders(request: Request): Readonly<Record<string, string>>;
}

const methods = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** Headers of this API and of the protocols. */
const allowedHeaders: readonly string[] = [
  ...["authorization", "content-type", "accept", "idempotency-key", "last-event-id", "user-agent"],
  ...["mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "a2a-version", "a2a-extensions"],
  ...["openai-organization", "openai-project", "openai-beta"],
  ...["x-api-key", "anthropic-version", "anthropic-beta", "anthropic-dangerous-direct-browser-access"],
];
/** Clients of OpenAI and Anthropic describe their platform in these headers, and new versions add more. */
const clientHeaderPattern = /^x-stainless-[a-z-]{1,40}$/;
const exposedHeaders: string = [
  ...["location", "retry-after", "content-disposition", "www-authenticate"],
  ...["x-run-id", "x-session-id", "request-id", "x-vercel-ai-ui-message-stream"],
  ...["mcp-session-id", "mcp-protocol-version"],
].join(", ");

/** Creates CORS headers for these origins. Credentials are never allowed: pages of other origins send a key. */
export function createCors(origins: readonly string[]): Cors {
  return {
    getHeaders({ headers }) {
      const origin = headers.get("origin");
      if (origin === null || !origins.includes(origin)) return { vary: "origin" };
      return {
        vary: "origin",
        "access-control-allow-origin": origin,
        "access-control-expose-headers": exposedHeaders,
      };
    },
    answerPreflight(request) {
      const origin = request.headers.get("origin");
      if (request.method !== "OPTIONS" || origin === null || !origins.includes(origin)) return undefined;
      if (!request.headers.has("access-control-request-method")) return undefined;
      return new Response(null, {
        status: 204,
        headers: {
          "access-control-allow-methods": methods,
          "access-control-allow-headers": [...allowedHeaders, ...getClientHeaders(request)].join(", "),
          "access-control-max-age": "600",
        },
      });
    },
  };
}

function getClientHeaders({ headers }: Request): readonly string[] {
  const names = (headers.get("access-control-request-headers") ?? "").slice(0, 4000).toLowerCase().split(",");
  return names.map((name) => name.trim()).filter((name) => clientHeaderPattern.test(name));
}

/** What pages of other sites are told: those that are listed, and nobody else. */
export interface Cors {
  /** The answer to a browser that asks first, or nothing when it does not, or is not to know. */
  preflight(request: Request): Response | undefined;
  /** What an answer needs so that the page that has asked may read it. */
  headersFor(request: Request): Readonly<Record<string, string>>;
}

const methods = "GET, HEAD, POST, PUT, PATCH, DELETE";
const asked =
  "authorization, content-type, idempotency-key, last-event-id, mcp-session-id, mcp-protocol-version";
const readable = "location, retry-after, mcp-session-id, mcp-protocol-version";

/** For listed origins. Cookies are never shared with them: they send a key. */
export function cors(origins: readonly string[] = []): Cors {
  function headersFor({ headers }: Request): Record<string, string> {
    const origin = headers.get("origin");
    if (origins.length === 0) return {};
    if (origin === null || !origins.includes(origin)) return { vary: "origin" };
    return {
      vary: "origin",
      "access-control-allow-origin": origin,
      "access-control-expose-headers": readable,
    };
  }
  return {
    headersFor,
    preflight(request) {
      const origin = request.headers.get("origin");
      if (request.method !== "OPTIONS" || origin === null || !origins.includes(origin)) return undefined;
      if (!request.headers.has("access-control-request-method")) return undefined;
      return new Response(null, {
        status: 204,
        headers: {
          "access-control-allow-methods": methods,
          "access-control-allow-headers": asked,
          "access-control-max-age": "600",
        },
      });
    },
  };
}

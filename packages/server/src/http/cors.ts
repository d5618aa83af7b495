/** What pages of other sites are told: those that are listed, and nobody else. */
export interface Cors {
  /** The answer to a browser that asks first, or nothing when it does not, or is not to know. */
  preflight(request: Request): Response | undefined;
  /** What an answer needs so that the page that has asked may read it. */
  headersFor(request: Request): Readonly<Record<string, string>>;
}

const methods = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** Those of this API, and those that the clients of the protocols send by themselves. */
const asked: readonly string[] = [
  ...["authorization", "content-type", "accept", "idempotency-key", "last-event-id", "user-agent"],
  ...["mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "a2a-version", "a2a-extensions"],
  ...["openai-organization", "openai-project", "openai-beta"],
];
/** The clients of OpenAI say with these what they run on, in more words with every version. */
const ofClient = /^x-stainless-[a-z-]{1,40}$/;
const readable: string = [
  ...["location", "retry-after", "content-disposition", "www-authenticate"],
  ...["x-run-id", "x-session-id", "x-vercel-ai-ui-message-stream"],
  ...["mcp-session-id", "mcp-protocol-version"],
].join(", ");

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
          "access-control-allow-headers": [...asked, ...ofClientIn(request)].join(", "),
          "access-control-max-age": "600",
        },
      });
    },
  };
}

function ofClientIn({ headers }: Request): readonly string[] {
  const names = (headers.get("access-control-request-headers") ?? "").slice(0, 4000).toLowerCase().split(",");
  return names.map((name) => name.trim()).filter((name) => ofClient.test(name));
}

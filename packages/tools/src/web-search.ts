import { AgentError, defineTool, hostedTools, type Tool, type ToolCall, type ToolReturn } from "capstan";
import type { GuardOptions } from "./web/guard.ts";
import { type GuardedResponse, guardedFetch } from "./web/guarded-client.ts";
import { createFragment, formatMark, truncate } from "./web/page-fragments.ts";
import {
  type SearchProvider,
  type SearchProviderName,
  type SearchResult,
  searchProviders,
} from "./web/search-providers.ts";
import { wrapUntrusted } from "./web/wrap-untrusted.ts";

export type WebSearchOptions = Omit<GuardOptions, "acceptsMediaType"> & {
  /** Default: the first of `brave`, `tavily`, `exa`, `searxng` with a variable in the environment, otherwise `hosted`. */
  readonly provider?: SearchProviderName | "hosted";
  /** Default: the provider's variable. */
  readonly apiKey?: string;
  /** Another address of the API, such as a gateway; for SearXNG, the address of the server. It may be on this machine. */
  readonly url?: string;
  /** Results of a search, at most 20; default 5. */
  readonly maxResults?: number;
};

const maxPassageLength = 1_000;

/**
 * The tool `web_search {query}`: results of a search provider, marked and labeled as untrusted, which an answer can cite.
 * Without a key, the model's provider searches: see `hostedTools.webSearch`. The effect is `send`, because the query
 * goes to the provider.
 */
export function webSearch(options: WebSearchOptions = {}): Tool<ToolCall<"web_search">, unknown> {
  const { provider: chosen, apiKey: _, url: __, maxResults = 5, ...guard } = options;
  if (!(Number.isInteger(maxResults) && maxResults >= 1 && maxResults <= 20))
    throw new AgentError("invalid_definition", '"maxResults" of webSearch must be a number from 1 to 20.');
  const name = chosen ?? findProvider();
  if (name === "hosted") return hostedTools.webSearch();
  const provider = searchProviders[name];
  if (!provider) {
    const names = [...Object.keys(searchProviders), "hosted"].join(", ");
    throw new AgentError(
      "invalid_definition",
      `Unknown provider "${name}" of webSearch. Providers: ${names}.`,
    );
  }
  const access = resolveAccess(name, provider, options);
  const fetchGuarded = guardedFetch({ ...(access.isOwn && toOwnGuard(access.baseUrl)), ...guard });
  return defineTool({
    name: "web_search",
    description:
      "Searches the web, and returns titles, addresses and passages. Read a whole page with web_fetch.",
    examples: [
      { phrase: "search the web for {query}" },
      { phrase: "search for {query}" },
      { phrase: "look up {query}" },
      { phrase: "find {query} on the web" },
    ],
    input: {
      type: "object",
      properties: {
        query: { type: "string", minLength: 1, maxLength: 400, description: "What to look for." },
      },
      required: ["query"],
      additionalProperties: false,
    },
    effects: "send",
    citable: true,
    idempotent: true,
    reads: ["untrusted"],
    target: ({ query }) => query,
    async execute({ query }, { signal, runId }) {
      const {
        url: address,
        headers = {},
        body,
      } = provider.toRequest(query, { ...access, count: maxResults });
      const response = await fetchGuarded(address, {
        ...{ signal, run: runId },
        ...(body
          ? {
              method: "POST",
              headers: { ...headers, "content-type": "application/json" },
              body: JSON.stringify(body),
            }
          : { headers }),
      });
      return formatResults(query, (await readResults(name, provider, response)).slice(0, maxResults));
    },
  });
}

const findProvider = (): SearchProviderName | "hosted" =>
  (Object.keys(searchProviders) as SearchProviderName[]).find(
    (name) => process.env[searchProviders[name].variable],
  ) ?? "hosted";

type Access = { readonly baseUrl: string; readonly key: string; readonly isOwn: boolean };

function resolveAccess(
  name: string,
  { variable, baseUrl }: SearchProvider,
  { apiKey, url }: Pick<WebSearchOptions, "apiKey" | "url">,
): Access {
  const value = process.env[variable] || undefined;
  const key = baseUrl === undefined ? "" : (apiKey ?? value);
  const address = url ?? baseUrl ?? value;
  if (address && key !== undefined)
    return { baseUrl: address.replace(/\/+$/, ""), key, isOwn: address !== baseUrl };
  const advice = baseUrl === undefined ? "pass `url`" : "pass `apiKey`";
  throw new AgentError(
    "invalid_definition",
    `webSearch with "${name}" needs ${variable}: set it, or ${advice}.`,
  );
}

/** An address that the operator has chosen may be on this machine or in its network, and on any port. */
function toOwnGuard(address: string): GuardOptions {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new AgentError(
      "invalid_definition",
      `"url" of webSearch must be an http or https address, not "${address}".`,
    );
  const port = Number(url.port) || (url.protocol === "http:" ? 80 : 443);
  return { allowHttp: url.protocol === "http:", allowPrivate: true, ports: [port] };
}

async function readResults(
  name: string,
  provider: SearchProvider,
  response: GuardedResponse,
): Promise<readonly SearchResult[]> {
  const { status } = response;
  if (status < 200 || status > 299) {
    response.close();
    const isTemporary = status === 408 || status === 429 || status >= 500;
    const advice = isTemporary ? "Try again later." : `Check the key and the plan (${provider.variable}).`;
    throw new AgentError("tool_failed", `The search provider "${name}" answered ${status}. ${advice}`, {
      retryable: isTemporary,
    });
  }
  const results = provider.readResults(parseResponse(await response.bytes()));
  if (results) return results;
  throw new AgentError("tool_failed", `The search provider "${name}" sent an unknown response.`, {
    retryable: false,
  });
}

function parseResponse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function formatResults(query: string, results: readonly SearchResult[]): ToolReturn {
  if (results.length === 0) return { content: "No results. Try other words." };
  const contexts = results.map(({ title, url, text }) =>
    createFragment({ content: truncate(text || title, maxPassageLength), title: truncate(title, 200), url }),
  );
  const blocks = contexts.map((fragment) =>
    [formatMark(fragment), fragment.source.title, fragment.source.url, fragment.content].join("\n"),
  );
  const sources = contexts.map(({ content, source }) => ({
    title: source.title,
    url: source.url ?? "",
    text: content,
  }));
  return {
    content: wrapUntrusted(blocks.join("\n\n"), { Query: query }),
    ui: { kind: "sources", props: { sources } },
    contexts,
  };
}

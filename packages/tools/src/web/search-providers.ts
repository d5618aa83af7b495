// The HTTP APIs of search providers: each is a request for a query, and a reader of its response.
import { isRecord } from "capstan";

/** One result of a search. `text` is the passage that the provider found. */
export type SearchResult = { readonly title: string; readonly url: string; readonly text: string };

type SearchRequest = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with POST; otherwise the request is a GET. */
  readonly body?: object;
};

export type SearchProvider = {
  /** The environment variable with the key, or with the address of the server. */
  readonly variable: string;
  /** Undefined if the variable has the address. */
  readonly baseUrl?: string;
  toRequest(
    query: string,
    options: { readonly baseUrl: string; readonly key: string; readonly count: number },
  ): SearchRequest;
  /** Returns undefined for a response that is not the provider's. */
  readResults(response: unknown): readonly SearchResult[] | undefined;
};

export type SearchProviderName = "brave" | "tavily" | "exa" | "searxng";

/** In the order in which `webSearch` looks for a key. */
export const searchProviders: { readonly [Name in SearchProviderName]: SearchProvider } = {
  // https://api-dashboard.search.brave.com/documentation/services/web-search
  brave: {
    variable: "BRAVE_API_KEY",
    baseUrl: "https://api.search.brave.com",
    toRequest: (query, { baseUrl, key, count }) => ({
      url: `${baseUrl}/res/v1/web/search?${new URLSearchParams({ q: query, count: String(count) })}`,
      headers: { "x-subscription-token": key, accept: "application/json" },
    }),
    readResults: (response) =>
      // A query without results has no `web`.
      isRecord(response) && response.type === "search"
        ? readList(isRecord(response.web) ? response.web.results : [], ["description", "extra_snippets"])
        : undefined,
  },
  // https://docs.tavily.com/documentation/api-reference/endpoint/search
  tavily: {
    variable: "TAVILY_API_KEY",
    baseUrl: "https://api.tavily.com",
    toRequest: (query, { baseUrl, key, count }) => ({
      url: `${baseUrl}/search`,
      headers: { authorization: `Bearer ${key}` },
      body: { query, max_results: count },
    }),
    readResults: (response) => (isRecord(response) ? readList(response.results, ["content"]) : undefined),
  },
  // https://docs.exa.ai/reference/search
  exa: {
    variable: "EXA_API_KEY",
    baseUrl: "https://api.exa.ai",
    toRequest: (query, { baseUrl, key, count }) => ({
      url: `${baseUrl}/search`,
      headers: { "x-api-key": key },
      body: { query, numResults: count, contents: { highlights: true } },
    }),
    readResults: (response) =>
      isRecord(response) ? readList(response.results, ["highlights", "text"]) : undefined,
  },
  // https://docs.searxng.org/dev/search_api.html: the server has to allow the format "json".
  searxng: {
    variable: "SEARXNG_URL",
    toRequest: (query, { baseUrl }) => ({
      url: `${baseUrl}/search?${new URLSearchParams({ q: query, format: "json" })}`,
      headers: { accept: "application/json" },
    }),
    readResults: (response) => (isRecord(response) ? readList(response.results, ["content"]) : undefined),
  },
};

/** Reads `title`, `url` and the first of these fields that has text. Results without an address are skipped. */
function readList(list: unknown, fields: readonly string[]): readonly SearchResult[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((result: unknown) => {
    if (!isRecord(result) || typeof result.url !== "string" || !/^https?:/.test(result.url)) return [];
    const text = fields.map((field) => toPlainString(result[field])).find((found) => found !== "") ?? "";
    return [{ title: toPlainString(result.title) || result.url, url: result.url, text }];
  });
}

/** Joins several passages, and removes the tags with which providers highlight words. */
function toPlainString(value: unknown): string {
  const text = Array.isArray(value) ? value.filter((item) => typeof item === "string").join(" … ") : value;
  return typeof text === "string" ? text.replace(/<\/?(?:strong|b|em|mark)>/gi, "").trim() : "";
}

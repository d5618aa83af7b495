import type { Model } from "../model.ts";
import { keyFrom } from "./environment.ts";
import { geminiContent } from "./gemini-content.ts";
import { type ClientOptions, httpModel, joinedUrl, settingsOf } from "./http-model.ts";
import { priced } from "./pricing.ts";

export type GeminiOptions = ClientOptions & {
  /** Google Cloud's endpoint instead of the API with a key. `token` is asked for every request. */
  readonly vertex?: {
    readonly project: string;
    readonly location: string;
    token(): string | Promise<string>;
  };
};

/** Google's models. The key is `GEMINI_API_KEY`, then `GOOGLE_API_KEY`, unless given; Vertex takes a token. */
export function gemini(options: GeminiOptions): Model {
  const { model, apiKey, stream, fetch, timeouts, circuit, headers, vertex } = options;
  const base =
    options.baseURL ?? (vertex ? vertexBase(vertex) : "https://generativelanguage.googleapis.com/v1beta");
  const provider = vertex ? "vertex" : "gemini";
  return httpModel({
    id: `${provider}/${model}`,
    wire: geminiContent,
    settings: settingsOf(options),
    stream,
    fetch,
    timeouts,
    circuit,
    price: priced({ provider, model, prices: options.prices }),
    url: (streams) =>
      joinedUrl(base, `/models/${model}:${streams ? "streamGenerateContent?alt=sse" : "generateContent"}`),
    headers: async () => ({
      ...(vertex
        ? { authorization: `Bearer ${await vertex.token()}` }
        : { "x-goog-api-key": keyFrom("Gemini", apiKey, ["GEMINI_API_KEY", "GOOGLE_API_KEY"]) }),
      ...headers,
    }),
  });
}

function vertexBase({ project, location }: NonNullable<GeminiOptions["vertex"]>): string {
  const host = location === "global" ? "aiplatform.googleapis.com" : `${location}-aiplatform.googleapis.com`;
  return `https://${host}/v1/projects/${project}/locations/${location}/publishers/google`;
}

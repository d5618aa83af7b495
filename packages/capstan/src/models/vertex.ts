// Models in Google Cloud (Vertex AI): Gemini with its own API, Claude with Anthropic's. The URL names the project, the
// location, the publisher and the model; every request has an access token.
import type { Model } from "../kernel/model.ts";
import { noServiceTiers } from "../kernel/settings/claude-models.ts";
import type { ModelSettings } from "../kernel/settings/settings.ts";
import { findSettingProblems } from "../kernel/settings/support.ts";
import { createCloudMessages } from "./anthropic-messages.ts";
import { createEmbeddingModel } from "./embeddings/embedding-model.ts";
import { readEnv, requireValue } from "./environment.ts";
import { buildVertexUrl } from "./gemini.ts";
import { geminiContent } from "./gemini-content.ts";
import { findGoogleProject, type GoogleAuthOptions, getGoogleAuth } from "./google-credentials.ts";
import {
  type ClientOptions,
  createHttpModel,
  type HttpModelOptions,
  joinUrl,
  pickClientOptions,
} from "./http-model.ts";
import { createPricer } from "./pricing.ts";
import { withoutFiles } from "./without-files.ts";

export type VertexOptions = Omit<ClientOptions, "apiKey"> &
  Omit<GoogleAuthOptions, "clock"> & {
    /** Default: `GOOGLE_CLOUD_PROJECT`, else the project that the application-default credentials name. */
    readonly project?: string;
    /** Default: `GOOGLE_CLOUD_LOCATION`, else `global`. */
    readonly location?: string;
  };

const gemini = {
  api: "gemini",
  wire: withoutFiles(geminiContent),
  publisher: "google",
  streamed: "streamGenerateContent?alt=sse",
  whole: "generateContent",
} as const;

const claude = {
  api: "anthropic",
  wire: createCloudMessages({ anthropic_version: "vertex-2023-10-16" }),
  publisher: "anthropic",
  streamed: "streamRawPredict",
  whole: "rawPredict",
} as const;

/** Gemini and Claude in Google Cloud. Without `token` and `credentials`, the application-default credentials are used. */
export function vertex(options: VertexOptions): Model {
  const { model, headers } = options;
  const isClaude = model.startsWith("claude");
  const { api, wire, publisher, streamed, whole } = isClaude ? claude : gemini;
  const auth = getGoogleAuth(options);
  const client: HttpModelOptions = {
    id: `vertex/${model}`,
    api,
    wire,
    ...pickClientOptions(options),
    price: createPricer({ provider: "vertex", model, prices: options.prices }),
    url: (streams) =>
      joinUrl(getBaseUrl(options), `/publishers/${publisher}/models/${model}:${streams ? streamed : whole}`),
    headers: async () => ({ ...(await auth.headers()), ...headers }),
    renew: auth.renew,
  };
  if (isClaude) return withoutTiers(createHttpModel(client), model);
  const url = () => joinUrl(getBaseUrl(options), `/publishers/google/models/${model}:predict`);
  return createEmbeddingModel({ ...client, embeddings: { api: "vertex", url } });
}

/** Names without a date are the same at Anthropic, so that they do not tell the cloud. */
function withoutTiers(client: Model, name: string): Model {
  const checkSettings = (settings: ModelSettings) => [
    ...(client.checkSettings?.(settings) ?? []).filter(({ field }) => field !== "serviceTier"),
    ...findSettingProblems([noServiceTiers], name, settings),
  ];
  return { ...client, checkSettings };
}

function getBaseUrl({ baseURL, project, location }: VertexOptions): string {
  if (baseURL) return baseURL;
  return buildVertexUrl({
    project: requireValue(project ?? findGoogleProject(), {
      what: "project for Vertex",
      names: ["GOOGLE_CLOUD_PROJECT"],
      option: "project",
    }),
    location: location ?? readEnv("GOOGLE_CLOUD_LOCATION") ?? "global",
  });
}

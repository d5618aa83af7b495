// Models in Amazon Bedrock, by the APIs of `bedrock-runtime`: Anthropic's models by InvokeModel, whose body is that of the
// Messages API without `model` and `stream` and whose stream is framed in binary messages; all others by the
// OpenAI-compatible APIs below `/openai/v1`. Requests are signed with AWS keys, or have an API key of Bedrock.
import type { Model } from "../kernel/model.ts";
import { createCloudMessages } from "./anthropic-messages.ts";
import { type AwsKeys, type AwsKeysProvider, getAwsCredential } from "./bedrock/aws-credentials.ts";
import { createBedrockReader } from "./bedrock/reader.ts";
import { signRequest } from "./bedrock/sign-request.ts";
import { withoutServerTools } from "./bedrock/without-server-tools.ts";
import { readEnv, requireValue } from "./environment.ts";
import {
  type ClientOptions,
  createHttpModel,
  type HttpModelOptions,
  joinUrl,
  pickClientOptions,
} from "./http-model.ts";
import { createChatWire } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";
import { createPricer } from "./pricing.ts";
import { renameWire } from "./rename-wire.ts";
import { withoutFiles } from "./without-files.ts";

export type { AwsKeys, AwsKeysProvider } from "./bedrock/aws-credentials.ts";

type BedrockApi = "anthropic" | "chat" | "responses";

export type BedrockOptions = ClientOptions & {
  /** The id of a model or an inference profile, or its ARN: `us.anthropic.claude-sonnet-4-5-20250929-v1:0`. */
  readonly model: string;
  /** Default: `AWS_REGION`, else `AWS_DEFAULT_REGION`. */
  readonly region?: string;
  /** Keys, or a function that is called when they are needed, such as a provider of the AWS SDK. */
  readonly credentials?: AwsKeys | AwsKeysProvider;
  /** An API key of Bedrock. Default without `credentials`: `AWS_BEARER_TOKEN_BEDROCK`. */
  readonly apiKey?: string;
  /** Default: `anthropic` for Anthropic's models, `chat` for others. An ARN does not always name the model. */
  readonly api?: BedrockApi;
};

/** Models in Amazon Bedrock, with the usual AWS credentials. */
export function bedrock(options: BedrockOptions): Model {
  const { model, credentials, stream, clock, headers } = options;
  const credential = getAwsCredential(credentials, clock);
  const getApiKey = () => options.apiKey ?? (credentials ? undefined : readEnv("AWS_BEARER_TOKEN_BEDROCK"));
  const api = options.api ?? (/anthropic|claude/.test(model) ? "anthropic" : "chat");
  return createHttpModel({
    id: `bedrock/${model}`,
    ...(api === "anthropic" ? createInvokeRoute(options) : createOpenAiRoute(options, api)),
    ...pickClientOptions(options),
    account: credentials,
    price: createPricer({ provider: "bedrock", model, prices: options.prices }),
    headers() {
      const apiKey = getApiKey();
      return {
        ...(api === "anthropic" && stream !== false && { accept: "application/vnd.amazon.eventstream" }),
        ...(apiKey && { authorization: `Bearer ${apiKey}` }),
        ...headers,
      };
    },
    async sign(request) {
      if (getApiKey()) return request.headers;
      const keys = await credential.get();
      return signRequest(request, { keys, region: getRegion(options), clock });
    },
    renew: async (sent) => !getApiKey() && credential.renew((keys) => isSignedBy(keys, sent)),
  });
}

type Route = Pick<HttpModelOptions, "api" | "wire" | "url" | "createReader">;

function createInvokeRoute(options: BedrockOptions): Route {
  const betas = new Headers(options.headers).get("anthropic-beta");
  return {
    api: "anthropic",
    wire: withoutServerTools(
      createCloudMessages({
        anthropic_version: "bedrock-2023-05-31",
        stream: undefined, // the URL says it
        ...(betas && { anthropic_beta: betas.split(",").map((beta) => beta.trim()) }),
      }),
    ),
    url: (streams) => {
      const operation = streams ? "invoke-with-response-stream" : "invoke";
      return joinUrl(getBaseUrl(options), `/model/${encodeURIComponent(options.model)}/${operation}`);
    },
    createReader: createBedrockReader,
  };
}

const openAiRoutes = {
  chat: {
    api: "compatible",
    wire: withoutFiles(createChatWire({ name: "bedrock-chat", maxTokensField: "max_completion_tokens" })),
    path: "/chat/completions",
  },
  responses: {
    api: "openai-responses",
    wire: withoutFiles(renameWire(openAiResponses, "bedrock-responses")),
    path: "/responses",
  },
} as const;

function createOpenAiRoute(options: BedrockOptions, name: keyof typeof openAiRoutes): Route {
  const { api, wire, path } = openAiRoutes[name];
  return { api, wire, url: () => joinUrl(getBaseUrl(options), `/openai/v1${path}`) };
}

function getRegion({ region }: BedrockOptions): string {
  const names = ["AWS_REGION", "AWS_DEFAULT_REGION"];
  return requireValue(region, { what: "region for Bedrock", names, option: "region" });
}

function getBaseUrl(options: BedrockOptions): string {
  const given = options.baseURL ?? readEnv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME");
  if (given) return given;
  const region = getRegion(options);
  const suffix = /^cn-/.test(region) ? "com.cn" : /^eusc-/.test(region) ? "eu" : "com";
  return `https://bedrock-runtime.${region}.amazonaws.${suffix}`;
}

function isSignedBy({ accessKeyId }: AwsKeys, sent: Readonly<Record<string, string>>): boolean {
  return sent.authorization?.includes(`Credential=${accessKeyId}/`) ?? false;
}

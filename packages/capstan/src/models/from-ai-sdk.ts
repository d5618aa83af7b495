// Adapts AI SDK language models of the specifications v2, v3 and v4. They are typed structurally, without a dependency.
// The streams are nearly the same; files, finish reasons and usage differ: see from-ai-sdk/ai-sdk-prompt.ts and
// from-ai-sdk/parts.ts.
import { AgentError } from "../base/errors.ts";
import { findHostedProblems } from "../kernel/hosted-support.ts";
import type { Model, ModelRequest } from "../kernel/model.ts";
import { findSettingProblems } from "../kernel/settings/support.ts";
import { type AiSdkVersion, aiSdkVersions, toFileData, toPrompt } from "./from-ai-sdk/ai-sdk-prompt.ts";
import { toAiSdkError } from "./from-ai-sdk/failure.ts";
import { type AiSdkPart, createPartReader } from "./from-ai-sdk/parts.ts";
import { buildAiSdkSettings, listAiSdkLimits } from "./from-ai-sdk/settings.ts";

/** The members of `LanguageModelV2`, `LanguageModelV3` and `LanguageModelV4` that the adapter uses. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: object): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

/** Wraps an AI SDK model: `fromAiSdk(mistral("mistral-large-latest"))`. Provider metadata is sent back unchanged. */
export function fromAiSdk(languageModel: AiSdkModel): Model {
  const version = getVersion(languageModel);
  const { provider, modelId } = languageModel;
  // Provider names look like "openai.responses"; the suffix names the API.
  const id = `${provider.split(".")[0]}/${modelId}`;
  const target = { version, provider, modelId };
  return {
    id,
    acceptsMedia: (part) => toFileData(part, target) !== undefined,
    checkHosted: (request) => findHostedProblems("ai-sdk", id, request),
    checkSettings: (settings) => findSettingProblems(listAiSdkLimits(target), modelId, settings),
    async *stream(request, { signal }) {
      let parts: ReadableStreamDefaultReader<unknown> | undefined;
      try {
        const options = { ...buildOptions(request), ...buildAiSdkSettings(request, target) };
        const prompt = toPrompt(request, target);
        const { stream } = await languageModel.doStream({ prompt, ...options, abortSignal: signal });
        parts = stream.getReader();
        const reader = createPartReader(target);
        for (;;) {
          const { done, value } = await parts.read();
          if (done) return;
          const chunks = reader.read(value as AiSdkPart);
          if (chunks.length > 0) yield chunks;
        }
      } catch (thrown) {
        throw toAiSdkError(thrown, id);
      } finally {
        // Not awaited: a hanging stream would block here.
        parts?.cancel().catch(() => undefined);
      }
    },
  };
}

function getVersion({ specificationVersion }: AiSdkModel): AiSdkVersion {
  const version = aiSdkVersions.find((known) => known === specificationVersion);
  if (version) return version;
  throw new AgentError(
    "invalid_definition",
    `fromAiSdk supports the specifications ${aiSdkVersions.join(", ")}, not "${specificationVersion}".`,
  );
}

function buildOptions({ tools, toolChoice, output }: ModelRequest): object {
  return {
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, input }) => ({
        type: "function",
        name,
        description,
        inputSchema: input,
      })),
      toolChoice:
        typeof toolChoice === "object" ? { type: "tool", toolName: toolChoice.tool } : { type: toolChoice },
    }),
    ...(output && { responseFormat: { type: "json", schema: output } }),
  };
}

// Any language model of the AI SDK, of its specifications v2, v3 and v4. They are described here by their shape, so
// there is no dependency. What they stream is much the same; they differ in how a file, a finish reason and the usage
// are written: see from-ai-sdk/prompt.ts and from-ai-sdk/parts.ts.
import { AgentError } from "../errors.ts";
import type { Model, ModelRequest } from "../model.ts";
import { type AiSdkVersion, aiSdkVersions, toPrompt } from "./from-ai-sdk/ai-sdk-prompt.ts";
import { aiSdkFailure } from "./from-ai-sdk/failure.ts";
import { type AiSdkPart, partReader } from "./from-ai-sdk/parts.ts";

/** The part of `LanguageModelV2`, `LanguageModelV3` and `LanguageModelV4` that is used here. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: object): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

/** A model of the AI SDK: `fromAiSdk(mistral("mistral-large-latest"))`. Its provider's data go back to it unchanged. */
export function fromAiSdk(languageModel: AiSdkModel): Model {
  const version = versionOf(languageModel);
  const { provider, modelId } = languageModel;
  // Providers call themselves "openai.responses": the rest is which of their APIs it is.
  const id = `${provider.split(".")[0]}/${modelId}`;
  return {
    id,
    async *stream(request, { signal }) {
      const dialect = { version, provider };
      let parts: ReadableStreamDefaultReader<unknown> | undefined;
      try {
        const options = optionsOf(request, toPrompt(request, dialect));
        const { stream } = await languageModel.doStream({ ...options, abortSignal: signal });
        parts = stream.getReader();
        const reader = partReader(dialect);
        for (;;) {
          const { done, value } = await parts.read();
          if (done) return;
          const chunks = reader.read(value as AiSdkPart);
          if (chunks.length > 0) yield chunks;
        }
      } catch (thrown) {
        throw aiSdkFailure(thrown, id);
      } finally {
        // Not awaited: a stream that hangs would hang here too.
        parts?.cancel().catch(() => undefined);
      }
    },
  };
}

function versionOf({ specificationVersion }: AiSdkModel): AiSdkVersion {
  const version = aiSdkVersions.find((known) => known === specificationVersion);
  if (version) return version;
  throw new AgentError(
    "invalid_definition",
    `fromAiSdk takes models of the specification ${aiSdkVersions.join(", ")}; this one has "${specificationVersion}".`,
  );
}

function optionsOf({ tools, toolChoice, output }: ModelRequest, prompt: readonly object[]): object {
  return {
    prompt,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, input }) => ({
        type: "function",
        name,
        description,
        inputSchema: input,
      })),
      toolChoice: { type: toolChoice },
    }),
    ...(output && { responseFormat: { type: "json", schema: output } }),
  };
}

/*
 * Models in a browser, through `@mlc-ai/web-llm`, whose engine has the chat completions API of OpenAI as a function. It
 * takes tools for few models, and then no instructions, so tools are described and called as text. The engine is passed
 * in and described by its shape: the package is not a dependency.
 */
import { AgentError, describeThrown, type ErrorCode } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { Chunk, Model, ModelRequest } from "../kernel/model.ts";
import type { ModelSettings } from "../kernel/settings/settings.ts";
import type { SettingProblem } from "../kernel/settings/support.ts";
import { buildWireSettings } from "./http-model.ts";
import { createChatWire } from "./openai-chat.ts";
import { textDialect } from "./text-dialect.ts";

/** The part of `MLCEngineInterface` that is used: an `MLCEngine`, or one in a worker. */
export type WebLlmEngine = {
  readonly chat: {
    readonly completions: {
      create(request: { readonly stream: true; readonly messages: unknown }): Promise<AsyncIterable<unknown>>;
    };
  };
  /** Ends the current answer. */
  interruptGenerate(): unknown;
};

export type WebLlmOptions = {
  /** The id of the model that the engine has loaded, such as `Qwen3-4B-q4f16_1-MLC`. */
  readonly model: string;
  /** Used where the agent and the run set nothing. */
  readonly settings?: Omit<ModelSettings, "toolChoice">;
};

const wire = createChatWire({ name: "web-llm", output: "none", images: false, files: false });
/** Fields of a chat completion that the engine knows. */
const knownFields: readonly string[] = [
  ...["model", "messages", "stream", "stream_options", "max_tokens", "stop", "temperature", "top_p"],
  ...["logprobs", "top_logprobs", "seed"],
];
const ignoredSettings = ["serviceTier", "cache"] as const;

/** Runs a model in the browser, with a WebLLM engine that has loaded it. */
export function webLlm(engine: WebLlmEngine, { model, settings }: WebLlmOptions): Model {
  return textDialect({
    id: `web-llm/${model}`,
    acceptsMedia: () => false,
    checkSettings: (requested) => listProblems(model, requested),
    async *stream(request, { signal }) {
      const fixed = buildWireSettings({ settings: { ...settings, model } }, request);
      const body = toChatBody(JSON.parse(wire.toRequest(request, fixed)), request, fixed);
      const interrupt = () => void engine.interruptGenerate();
      signal.throwIfAborted();
      signal.addEventListener("abort", interrupt, { once: true });
      try {
        yield* readAnswer(await engine.chat.completions.create(body));
      } catch (thrown) {
        throw thrown instanceof AgentError ? thrown : toError(thrown);
      } finally {
        signal.removeEventListener("abort", interrupt);
      }
      // An interrupted answer ends like a complete one.
      signal.throwIfAborted();
    },
  });
}

type WebLlmRequest = { readonly stream: true; readonly messages: unknown };

function toChatBody(
  body: unknown,
  { output }: ModelRequest,
  { effort, extra }: ModelSettings,
): WebLlmRequest {
  const fields = Object.entries(isRecord(body) ? body : {}).filter(([name]) => knownFields.includes(name));
  return {
    ...Object.fromEntries(fields),
    // The engine limits the answer to the schema, which it takes as text.
    ...(output && { response_format: { type: "json_object", schema: JSON.stringify(output) } }),
    ...(effort !== undefined && { extra_body: { enable_thinking: effort !== "none" } }),
    ...extra,
  } as WebLlmRequest;
}

async function* readAnswer(stream: AsyncIterable<unknown>): AsyncGenerator<readonly Chunk[]> {
  const reader = wire.reader();
  for await (const chunk of stream) {
    const chunks = reader.read({ data: JSON.stringify(chunk) });
    if (chunks.length > 0) yield chunks;
  }
  yield reader.read({ data: "[DONE]" });
}

function listProblems(model: string, settings: ModelSettings): readonly SettingProblem[] {
  const set = ignoredSettings.filter((field) => settings[field] !== undefined);
  const reason = "the model runs in the browser";
  return set.map((field) => ({
    field,
    message: `${model} does not support ${field} ${JSON.stringify(settings[field])}: ${reason}.`,
    isError: false,
  }));
}

/** The engine's errors have telling names; in a worker they arrive as texts. */
const errorCodes: readonly (readonly [RegExp, ErrorCode])[] = [
  [/ContextWindowSizeExceeded|context window/i, "context_overflow"],
  [/ModelNotLoaded|ModelNotFound|not loaded/i, "model_not_found"],
  [/DeviceLost|device was lost|out of memory/i, "out_of_memory"],
];

function toError(thrown: unknown): AgentError {
  const { message } = describeThrown(thrown, "model_failed");
  const name = thrown instanceof Error ? thrown.name : "";
  const known = errorCodes.find(([pattern]) => pattern.test(`${name} ${message}`));
  return new AgentError(known?.[1] ?? "model_failed", message, { cause: thrown, retryable: false });
}

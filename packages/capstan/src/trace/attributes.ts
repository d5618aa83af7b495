import type { Attributes } from "@opentelemetry/api";
import type { Origin } from "../kernel/event.ts";
import type { MessageEnd, Usage } from "../kernel/model.ts";
import type { MaskText } from "../secrets/json-text.ts";

/** Operation names of the GenAI conventions. */
export type Operation = "invoke_agent" | "chat" | "execute_tool";

/** How names and ids are written to spans. */
export type SpanNaming = {
  /** Masks and truncates a name, id or code. */
  readonly name: MaskText;
  /** Adds the attributes that Langfuse and OpenInference read. */
  readonly extraKeys: boolean;
};

const maxNameLength = 128;

/** Masks before truncating: a truncated secret would not be recognized. */
export function createNameMask(mask: MaskText): MaskText {
  return (text) => {
    const name = mask(text);
    return name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength).toWellFormed()}…`;
  };
}

const spanKinds = {
  invoke_agent: { openInference: "AGENT", langfuse: "agent" },
  chat: { openInference: "LLM", langfuse: "generation" },
  execute_tool: { openInference: "TOOL", langfuse: "tool" },
} as const;

/** Attributes of every span. */
export function buildCommonAttributes(
  operation: Operation,
  { agent, sessionId, runId, turn }: Origin,
  { name, extraKeys }: SpanNaming,
): Attributes {
  const session = name(sessionId);
  return {
    "gen_ai.operation.name": operation,
    "gen_ai.agent.name": name(agent),
    "gen_ai.conversation.id": session,
    "capstan.run.id": name(runId),
    ...(turn > 0 && operation !== "invoke_agent" && { "capstan.turn": turn }),
    ...(extraKeys && {
      "session.id": session,
      "openinference.span.kind": spanKinds[operation].openInference,
      "langfuse.observation.type": spanKinds[operation].langfuse,
    }),
  };
}

/** Provider names that differ in the GenAI conventions. */
const providers: Readonly<Record<string, string>> = {
  gemini: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  mistral: "mistral_ai",
  xai: "x_ai",
};

/** Splits `provider/model`. A name without a slash is used for both. */
export function splitModelName(model: string): { readonly provider: string; readonly model: string } {
  const slash = model.indexOf("/");
  if (slash < 1) return { provider: model, model };
  const provider = model.slice(0, slash);
  return {
    provider: Object.hasOwn(providers, provider) ? (providers[provider] ?? provider) : provider,
    model: model.slice(slash + 1),
  };
}

/** Token usage of a model call. */
export function buildUsageAttributes({
  inputTokens,
  outputTokens,
  cachedTokens,
  cacheWriteTokens,
  reasoningTokens,
}: Usage): Attributes {
  return {
    "gen_ai.usage.input_tokens": inputTokens,
    "gen_ai.usage.output_tokens": outputTokens,
    ...(cachedTokens !== undefined && { "gen_ai.usage.cache_read.input_tokens": cachedTokens }),
    ...(cacheWriteTokens !== undefined && {
      "gen_ai.usage.cache_creation.input_tokens": cacheWriteTokens,
    }),
    ...(reasoningTokens !== undefined && { "gen_ai.usage.reasoning.output_tokens": reasoningTokens }),
  };
}

/** Converts a stop reason to the GenAI conventions, which call it finish reason. */
export function toFinishReason(stopReason: MessageEnd): string {
  if (stopReason === "end") return "stop";
  return stopReason === "tool_calls" ? "tool_call" : stopReason;
}

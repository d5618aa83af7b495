import type { Attributes } from "@opentelemetry/api";
import type { Origin } from "../event.ts";
import type { Finish, Usage } from "../model.ts";
import type { MaskText } from "../secrets/json-text.ts";

/** What a span is about, in the words of the convention. */
export type Operation = "invoke_agent" | "chat" | "execute_tool";

/** How what comes from outside becomes part of a span. */
export type SpanNaming = {
  /** Masks and cuts a name, an id or a code. */
  readonly name: MaskText;
  /** Whether spans have the keys that Langfuse and OpenInference read besides. */
  readonly extraKeys: boolean;
};

const maxNameLength = 128;

/** Masked before it is cut: half a secret would not be recognised. */
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

/** What every span says: what it is, of whom, and in which conversation. */
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

/** What the convention calls the providers that it knows by another name. */
const providers: Readonly<Record<string, string>> = {
  gemini: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  bedrock: "aws.bedrock",
  mistral: "mistral_ai",
  xai: "x_ai",
};

/** The two halves of `provider/model`; of a name without a slash, it is both. */
export function splitModelName(model: string): { readonly provider: string; readonly model: string } {
  const slash = model.indexOf("/");
  if (slash < 1) return { provider: model, model };
  const provider = model.slice(0, slash);
  return {
    provider: Object.hasOwn(providers, provider) ? (providers[provider] ?? provider) : provider,
    model: model.slice(slash + 1),
  };
}

/** What a model call has used. */
export function buildUsageAttributes({
  inputTokens,
  outputTokens,
  cachedTokens,
  reasoningTokens,
}: Usage): Attributes {
  return {
    "gen_ai.usage.input_tokens": inputTokens,
    "gen_ai.usage.output_tokens": outputTokens,
    ...(cachedTokens !== undefined && { "gen_ai.usage.cache_read.input_tokens": cachedTokens }),
    ...(reasoningTokens !== undefined && { "gen_ai.usage.reasoning.output_tokens": reasoningTokens }),
  };
}

/** Why a model stopped, in the words of the convention. */
export function toFinishReason(finish: Finish | "aborted"): string {
  return finish === "tool_calls" ? "tool_call" : finish;
}

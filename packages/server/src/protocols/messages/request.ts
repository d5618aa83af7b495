import { type Effort, effortLevels, type ModelSettings } from "capstan";
import { z } from "zod";
import type { ClientRunRequest } from "../client-run.ts";
import { anthropicMessages, textContent } from "./content-blocks.ts";

const customTool = z.object({
  type: z.literal("custom", "Only tools of type `custom` are supported; the agent has its own").nullish(),
  name: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, "must have 1 to 128 letters, digits, `_` or `-`"),
  description: z.string().max(100_000).nullish(),
  input_schema: z.record(z.string(), z.unknown()),
});

const isSequential = z.boolean().nullish();
const toolChoice = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["auto", "any"]), disable_parallel_tool_use: isSequential }),
  z.object({ type: z.literal("tool"), name: z.string(), disable_parallel_tool_use: isSequential }),
  z.object({ type: z.literal("none") }),
]);

const levels = effortLevels.filter((level) => level !== "none");
const display = z.enum(["summarized", "omitted"]).nullish();
const thinking = z.discriminatedUnion("type", [
  z.object({ type: z.literal("enabled"), budget_tokens: z.int().min(1024), display }),
  z.object({ type: z.literal("adaptive"), display }),
  z.object({ type: z.enum(["disabled", "between_tools"]) }),
]);

const input = z.object({
  model: z.string().min(1).max(400),
  messages: anthropicMessages,
  system: textContent.nullish(),
  tools: z.array(customTool).max(128).nullish(),
  tool_choice: toolChoice.nullish(),
});

const settings = z.object({
  max_tokens: z.int().min(1).max(1_000_000_000),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop_sequences: z.array(z.string().min(1)).max(16).nullish(),
  service_tier: z.enum(["auto", "standard_only"]).nullish(),
  thinking: thinking.nullish(),
});

const outputConfig = z.object({
  effort: z.enum(levels).nullish(),
  format: z.object({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) }).nullish(),
});

const fields = z.object({
  ...input.shape,
  ...settings.shape,
  output_config: outputConfig.nullish(),
  stream: z.boolean().nullish(),
  thread: z.unknown().optional(),
  metadata: z.object({ user_id: z.string().max(256).nullish() }).nullish(),
});

export type MessagesRequest = ClientRunRequest & {
  /** The client wants the server to keep the conversation. */
  readonly hasThread: boolean;
  readonly isStreamed: boolean;
  /** Clients that did not ask for thinking expect the answer in the first block. */
  readonly showsThinking: boolean;
};

/**
 * Request body of `POST /v1/messages`. Unknown fields are ignored. Fields that would change the meaning of the answer
 * are refused. `metadata.user_id` changes nothing: the key alone identifies the user.
 */
export const messagesRequest: z.ZodType<MessagesRequest> = fields.transform((body) => ({
  ...toInput(body),
  output: body.output_config?.format?.schema,
  settings: toSettings(body),
  hasThread: body.thread != null,
  isStreamed: body.stream === true,
  showsThinking: showsThinking(body),
}));

type Fields = z.output<typeof fields>;

/** The agent's own tools are not the client's to withdraw. */
function toInput(body: z.output<typeof input>) {
  const { model, messages, system, tool_choice: choice } = body;
  const tools = choice?.type === "none" ? [] : (body.tools ?? []);
  return {
    model,
    messages: system?.length ? [{ role: "system" as const, content: system }, ...messages] : messages,
    tools: tools.map(({ name, description, input_schema: parameters }) => ({
      name,
      parameters,
      description: description ?? undefined,
    })),
    requiresTool: choice?.type === "any" || choice?.type === "tool",
  };
}

function toSettings(body: Fields): ModelSettings {
  const { tool_choice: choice, stop_sequences: stop } = body;
  const isSequential = choice != null && choice.type !== "none" && choice.disable_parallel_tool_use === true;
  const effort = getEffort(body);
  return {
    maxOutputTokens: body.max_tokens,
    ...(body.temperature != null && { temperature: body.temperature }),
    ...(body.top_p != null && { topP: body.top_p }),
    ...(stop?.length && { stop }),
    ...(body.service_tier != null && {
      serviceTier: body.service_tier === "auto" ? "auto" : "default",
    }),
    ...(effort !== undefined && { effort }),
    ...(isSequential && { parallelToolCalls: false }),
    ...(choice?.type === "tool" && { toolChoice: { tool: choice.name } }),
  };
}

function showsThinking({ thinking: asked }: Fields): boolean {
  return (asked?.type === "enabled" || asked?.type === "adaptive") && asked.display !== "omitted";
}

/** `between_tools` is how some models turn thinking off. */
function getEffort({ thinking: asked, output_config: config }: Fields): Effort | undefined {
  if (asked?.type === "disabled" || asked?.type === "between_tools") return "none";
  if (config?.effort != null) return config.effort;
  if (asked?.type === "enabled") return asked.budget_tokens;
  return asked ? "medium" : undefined;
}

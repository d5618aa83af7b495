import type { ModelSettings } from "capstan";
import { z } from "zod";
import { type ChatMessage, chatMessages } from "../chat-messages.ts";
import type { ClientTool } from "../client-agent.ts";
import { completionSettings } from "../openai-settings.ts";

const tool = z.object({
  type: z.literal("function", "Only tools of type `function` are supported"),
  function: z.object({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must have 1 to 64 letters, digits, `_` or `-`"),
    description: z.string().max(100_000).nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
  }),
});

const namedTool = z.object({ type: z.literal("function"), function: z.object({ name: z.string() }) });

const fields = z.object({
  model: z.string().min(1).max(400),
  messages: chatMessages,
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1, "Only one choice (n: 1) is supported").nullish(),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: z.union([z.enum(["none", "auto", "required"]), namedTool]).nullish(),
  response_format: z
    .discriminatedUnion("type", [
      z.object({ type: z.enum(["text", "json_object"]) }),
      z.object({
        type: z.literal("json_schema"),
        json_schema: z.object({ schema: z.record(z.string(), z.unknown()).nullish() }),
      }),
    ])
    .nullish(),
  modalities: z.array(z.literal("text", "Only text output is supported")).nullish(),
  functions: z.never("`functions` is deprecated. Use `tools`").optional(),
});

/**
 * Request body of `POST /v1/chat/completions`. Unknown fields are ignored. Fields that would change the meaning of the
 * answer are refused.
 */
export const completionRequest: z.ZodType<CompletionRequest> = z
  .intersection(fields, completionSettings)
  .transform(({ settings, ...body }) => {
    const { tool_choice: choice } = body;
    const isNamed = typeof choice === "object" && choice !== null;
    return {
      ...body,
      settings: { ...settings, ...(isNamed && { toolChoice: { tool: choice.function.name } }) },
    };
  });

export type CompletionRequest = {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean | null | undefined;
  readonly stream_options?: { readonly include_usage?: boolean | null | undefined } | null | undefined;
  readonly n?: 1 | null | undefined;
  readonly tools?: readonly DeclaredTool[] | null | undefined;
  readonly tool_choice?: ToolChoice | null | undefined;
  readonly settings: ModelSettings;
  readonly response_format?:
    | { readonly type: "text" | "json_object" }
    | { readonly type: "json_schema"; readonly json_schema: { readonly schema?: object | null | undefined } }
    | null
    | undefined;
  readonly modalities?: readonly "text"[] | null | undefined;
  readonly functions?: undefined;
};

type DeclaredTool = {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string | null | undefined;
    readonly parameters?: object | null | undefined;
  };
};

type ToolChoice =
  | "none"
  | "auto"
  | "required"
  | { readonly type: "function"; readonly function: { readonly name: string } };

/** Returns the tools that the client runs. The agent's own are not the client's to withdraw. */
export function getDeclaredTools({ tools, tool_choice: choice }: CompletionRequest): readonly ClientTool[] {
  if (choice === "none") return [];
  return (tools ?? []).map(({ function: { name, description, parameters } }) => ({
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
  }));
}

export function requiresTool({ tool_choice: choice }: CompletionRequest): boolean {
  return choice === "required" || (typeof choice === "object" && choice !== null);
}

/** Returns the required JSON Schema of the answer. */
export function getOutputSchema({ response_format: format }: CompletionRequest): object | undefined {
  return format?.type === "json_schema" ? (format.json_schema.schema ?? undefined) : undefined;
}

import type { ModelSettings } from "capstan";
import { z } from "zod";
import type { ClientTool } from "../client-agent.ts";
import { responseSettings } from "../openai-settings.ts";
import { parseResponseId } from "./ids.ts";
import { type InputItem, responseInput } from "./input-items.ts";
import { serverLabel } from "./response-output.ts";

const functionTool = z.object({
  type: z.literal("function"),
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must have 1 to 64 letters, digits, `_` or `-`"),
  description: z.string().max(100_000).nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});
/** The agent's own tools, for clients that must declare the server of approval requests. */
const serverTools = z.object({ type: z.literal("mcp"), server_label: z.literal(serverLabel) });

const tool = z.union(
  [functionTool, serverTools],
  `Only tools of type \`function\` are supported, and \`mcp\` with server_label "${serverLabel}"`,
);

const named = z.object({ type: z.literal("function"), name: z.string() });
const conversation = z.union([z.string().min(1).max(200), z.object({ id: z.string().min(1).max(200) })]);

const fields = z.object({
  model: z.string().min(1).max(400),
  input: responseInput,
  instructions: z.string().max(1_000_000).nullish(),
  previous_response_id: z.string().min(1).max(300).nullish(),
  conversation: conversation.nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: z
    .union([z.enum(["none", "auto", "required"]), named], "must be `none`, `auto`, `required` or a function")
    .nullish(),
  text: z
    .object({
      format: z
        .discriminatedUnion("type", [
          z.object({ type: z.enum(["text", "json_object"]) }),
          z.object({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) }),
        ])
        .nullish(),
    })
    .nullish(),
  prompt: z.null("Stored prompts are not supported. Choose an agent as the model").optional(),
});

/** Request of `POST /v1/responses`. */
export type ResponsesRequest = {
  readonly model: string;
  readonly items: readonly InputItem[];
  readonly instructions: string | undefined;
  /** The run and segment to continue. */
  readonly runId?: string;
  readonly segment?: number;
  /** The conversation to continue. */
  readonly sessionId?: string;
  readonly isStored: boolean;
  readonly isStreamed: boolean;
  readonly isInBackground: boolean;
  /** Tools that the client runs. */
  readonly tools: readonly ClientTool[];
  readonly requiresTool: boolean;
  readonly settings: ModelSettings;
  /** Required JSON Schema of the answer. */
  readonly output: object | undefined;
};

/**
 * Unknown fields are ignored. Fields that would change the meaning of the answer are refused. Ids become `runId` and `sessionId`, so that `dispatch` checks their owner.
 */
export const responsesRequest: z.ZodType<ResponsesRequest> = z
  .intersection(fields, responseSettings)
  .refine((given) => given.conversation == null || given.previous_response_id == null, {
    path: ["conversation"],
    message: "Send either previous_response_id or conversation, not both",
  })
  .transform((given): ResponsesRequest => {
    const { previous_response_id: previous, conversation: kept, input, tool_choice: choice } = given;
    const isNamed = typeof choice === "object" && choice !== null;
    return {
      model: given.model,
      items: typeof input === "string" ? [{ role: "user", content: input }] : input,
      instructions: given.instructions ?? undefined,
      ...(previous != null && parseResponseId(previous)),
      ...(kept != null && { sessionId: typeof kept === "string" ? kept : kept.id }),
      isStored: given.store !== false,
      isStreamed: given.stream === true,
      isInBackground: given.background === true,
      tools: parseDeclaredTools(given),
      requiresTool: isNamed || choice === "required",
      settings: { ...given.settings, ...(isNamed && { toolChoice: { tool: choice.name } }) },
      output: given.text?.format?.type === "json_schema" ? given.text.format.schema : undefined,
    };
  });

function parseDeclaredTools({ tools, tool_choice: choice }: z.output<typeof fields>): readonly ClientTool[] {
  if (choice === "none") return [];
  return (tools ?? []).flatMap((each) =>
    each.type === "function"
      ? [
          {
            name: each.name,
            ...(each.description != null && { description: each.description }),
            ...(each.parameters != null && { parameters: each.parameters }),
          },
        ]
      : [],
  );
}

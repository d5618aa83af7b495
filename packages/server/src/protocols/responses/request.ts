import { z } from "zod";
import type { ClientTool } from "../client-agent.ts";
import { readResponseId } from "./ids.ts";
import { type InputItem, responseInput } from "./input-items.ts";
import { serverLabel } from "./response-output.ts";

const functionTool = z.object({
  type: z.literal("function"),
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "A name has 1 to 64 letters, digits, `_` or `-`"),
  description: z.string().max(100_000).nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});
/** The agent's own tools, for clients that must name whose calls they are asked about. */
const ownTools = z.object({ type: z.literal("mcp"), server_label: z.literal(serverLabel) });

const tool = z.union(
  [functionTool, ownTools],
  `Only tools of the type \`function\` can be declared here, and \`mcp\` as "${serverLabel}"`,
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
    .union([z.enum(["none", "auto", "required"]), named], "It is `none`, `auto`, `required` or a function")
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
  prompt: z.null("Prompts are kept by agents: name one as the model").optional(),
});

/** What `POST /v1/responses` is asked. */
export type ResponsesRequest = {
  readonly model: string;
  readonly items: readonly InputItem[];
  readonly instructions: string | undefined;
  /** The run that it goes on from, and which of its legs. */
  readonly runId?: string;
  readonly leg?: number;
  /** The conversation that it goes on with. */
  readonly sessionId?: string;
  readonly isKept: boolean;
  readonly isStreamed: boolean;
  readonly isInBackground: boolean;
  /** The tools that the client offers to run. */
  readonly tools: readonly ClientTool[];
  /** A tool must be called before the answer. */
  readonly demandsTool: boolean;
  /** The form that the answer must have, as JSON Schema. */
  readonly output: object | undefined;
};

/**
 * Settings of the model are the agent's own: a request that brings them is served without them, like all else that is not
 * named here. What would change the meaning of the answer is refused. What is named of the caller's comes out as `runId` and
 * `sessionId`, which are checked to be theirs like everywhere.
 */
export const responsesRequest: z.ZodType<ResponsesRequest> = fields
  .refine((given) => given.conversation == null || given.previous_response_id == null, {
    path: ["conversation"],
    message: "Go on from a response or with a conversation, not both",
  })
  .transform((given): ResponsesRequest => {
    const { previous_response_id: previous, conversation: kept, input } = given;
    return {
      model: given.model,
      items: typeof input === "string" ? [{ role: "user", content: input }] : input,
      instructions: given.instructions ?? undefined,
      ...(previous != null && readResponseId(previous)),
      ...(kept != null && { sessionId: typeof kept === "string" ? kept : kept.id }),
      isKept: given.store !== false,
      isStreamed: given.stream === true,
      isInBackground: given.background === true,
      tools: declaredTools(given),
      demandsTool:
        given.tool_choice === "required" ||
        (typeof given.tool_choice === "object" && given.tool_choice !== null),
      output: given.text?.format?.type === "json_schema" ? given.text.format.schema : undefined,
    };
  });

function declaredTools({ tools, tool_choice: choice }: z.output<typeof fields>): readonly ClientTool[] {
  if (choice === "none") return [];
  const declared = (tools ?? []).flatMap((each) =>
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
  return typeof choice === "object" && choice !== null
    ? declared.filter(({ name }) => name === choice.name)
    : declared;
}

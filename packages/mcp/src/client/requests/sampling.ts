import type { CreateMessageRequestParams, CreateMessageResult } from "@modelcontextprotocol/client";
import { type Entry, escapeInvisible, type Model, type ModelRequest, type Question } from "capstan";

/** Lets servers use your model. */
export type Sampling = {
  readonly model: Model;
  /** Max tokens per answer; default 1,000. */
  readonly maxTokens?: number;
  /** Max requests per server until the process ends; default 20. */
  readonly maxRequests?: number;
  /** `false`: do not ask the user. By default the user approves each request. */
  readonly ask?: boolean;
};

export const defaultSampling = { maxTokens: 1_000, maxRequests: 20, ask: true } as const;

/** Asks the user whether a server may use the model. */
export function createSamplingQuestion(server: string, params: CreateMessageRequestParams): Question {
  const messages = params.messages
    .map(({ role, content }) => `${role}: ${formatContent(content)}`)
    .join("\n");
  const system = params.systemPrompt === undefined ? "" : `system: ${params.systemPrompt}\n`;
  const preview = escapeInvisible(
    `${system}${messages}`.slice(0, 2_000).toWellFormed().replaceAll("\n", " / "),
  );
  return {
    message: `The MCP server "${server}" wants to use your model and will see the answer: ${preview}`,
  };
}

/** Calls the model for a server: with the server's messages only, without the conversation and without tools. */
export async function sampleModel(
  { model, maxTokens = defaultSampling.maxTokens }: Sampling,
  params: CreateMessageRequestParams,
  signal: AbortSignal,
): Promise<CreateMessageResult> {
  const history: Entry[] = params.messages.map(({ role, content }) => {
    const text = formatContent(content);
    return role === "user"
      ? { type: "user", content: text }
      : { type: "assistant", parts: [{ type: "text", text }] };
  });
  const maxOutputTokens = Math.min(params.maxTokens ?? maxTokens, maxTokens);
  const instructions = params.systemPrompt ?? "";
  const request: ModelRequest = {
    instructions,
    history,
    tools: [],
    toolChoice: "none",
    thinking: false,
    maxOutputTokens: maxOutputTokens,
  };
  let text = "";
  for await (const chunks of model.stream(request, { signal }))
    for (const chunk of chunks) if (chunk.type === "text") text += chunk.text;
  return { model: model.id, role: "assistant", stopReason: "endTurn", content: { type: "text", text } };
}

type Content = CreateMessageRequestParams["messages"][number]["content"];

function formatContent(content: Content): string {
  return [content]
    .flat()
    .map((item) => (item.type === "text" ? item.text : `[${item.type}]`))
    .join("\n");
}

import type { CreateMessageRequestParams, CreateMessageResult } from "@modelcontextprotocol/client";
import { type Entry, escapeInvisible, type Model, type ModelRequest, type Question } from "capstan";

/** Lets servers ask your model. It is off unless this is given. */
export type Sampling = {
  readonly model: Model;
  /** The most that one answer may have; 1,000 when left out. */
  readonly maxTokens?: number;
  /** The most requests of one server, until the process ends; 20 when left out. */
  readonly maxRequests?: number;
  /** False: nobody is asked. Left out, a person agrees to each request. */
  readonly ask?: boolean;
};

export const defaultSampling = { maxTokens: 1_000, maxRequests: 20, ask: true } as const;

/** What a person is asked before a server gets to use the model. */
export function samplingQuestion(server: string, params: CreateMessageRequestParams): Question {
  const said = params.messages.map(({ role, content }) => `${role}: ${textOf(content)}`).join("\n");
  const system = params.systemPrompt === undefined ? "" : `system: ${params.systemPrompt}\n`;
  const shown = escapeInvisible(`${system}${said}`.slice(0, 2_000).toWellFormed().replaceAll("\n", " / "));
  return {
    message: `The MCP server "${server}" wants to ask your model, and will read the answer: ${shown}`,
  };
}

/** Asks the model for a server: with the server's words alone, nothing of the conversation, and no tools. */
export async function sample(
  { model, maxTokens = defaultSampling.maxTokens }: Sampling,
  params: CreateMessageRequestParams,
  signal: AbortSignal,
): Promise<CreateMessageResult> {
  const history: Entry[] = params.messages.map(({ role, content }) => {
    const text = textOf(content);
    return role === "user"
      ? { type: "user", content: text }
      : { type: "assistant", parts: [{ type: "text", text }] };
  });
  const most = Math.min(params.maxTokens ?? maxTokens, maxTokens);
  const instructions = params.systemPrompt ?? "";
  const request: ModelRequest = {
    instructions,
    history,
    tools: [],
    toolChoice: "none",
    thinking: false,
    maxOutputTokens: most,
  };
  let text = "";
  for await (const chunks of model.stream(request, { signal }))
    for (const chunk of chunks) if (chunk.type === "text") text += chunk.text;
  return { model: model.id, role: "assistant", stopReason: "endTurn", content: { type: "text", text } };
}

type Content = CreateMessageRequestParams["messages"][number]["content"];

function textOf(content: Content): string {
  return [content]
    .flat()
    .map((item) => (item.type === "text" ? item.text : `[${item.type}]`))
    .join("\n");
}

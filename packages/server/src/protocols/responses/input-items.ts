import { AgentError } from "capstan";
import { z } from "zod";
import { type ChatContent, type ChatMessage, type ChatPart, joinMessageText } from "../chat-messages.ts";

const text = z.string().max(1_000_000);
const id = z.string().min(1).max(700);
const name = z.string().min(1).max(128);

const part = z.union([
  z.object({ type: z.enum(["input_text", "output_text", "text"]), text }),
  z.object({ type: z.literal("refusal"), refusal: text }),
  z.object({ type: z.literal("input_image"), image_url: z.string() }),
  z.object({ type: z.literal("input_file"), file_data: z.string() }),
]);
type InputPart =
  | { readonly type: "input_text" | "output_text" | "text"; readonly text: string }
  | { readonly type: "refusal"; readonly refusal: string }
  | { readonly type: "input_image"; readonly image_url: string }
  | { readonly type: "input_file"; readonly file_data: string };
type InputContent = string | readonly InputPart[];

const content = z.union([text, z.array(part).max(100)]);

const message = z.object({
  type: z.literal("message").optional(),
  role: z.enum(["user", "assistant", "system", "developer"]),
  content,
});
const functionCall = z.object({ type: z.literal("function_call"), call_id: id, name, arguments: text });
const functionOutput = z.object({ type: z.literal("function_call_output"), call_id: id, output: content });
const approval = z.object({
  type: z.literal("mcp_approval_response"),
  approval_request_id: id,
  approve: z.boolean(),
  reason: z.string().max(10_000).nullish(),
});
const ownCall = z.object({
  type: z.literal("mcp_call"),
  id,
  name,
  arguments: text,
  output: text.nullish(),
});
/** Items that this server sent; ignored. */
const echoed = z.looseObject({ type: z.enum(["reasoning", "mcp_approval_request", "mcp_list_tools"]) });

const item = z.union(
  [functionCall, functionOutput, approval, ownCall, echoed, message],
  "An item must be a complete message, function_call, function_call_output, mcp_call or mcp_approval_response",
);

export type InputItem =
  | {
      readonly type?: "message" | undefined;
      readonly role: "user" | "assistant" | "system" | "developer";
      readonly content: InputContent;
    }
  | ({ readonly type: "function_call" } & FunctionCall)
  | FunctionOutput
  | ApprovalResponse
  | {
      readonly type: "mcp_call";
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      readonly output?: string | null | undefined;
    }
  | { readonly type: "reasoning" | "mcp_approval_request" | "mcp_list_tools" };

type FunctionCall = { readonly call_id: string; readonly name: string; readonly arguments: string };
type FunctionOutput = {
  readonly type: "function_call_output";
  readonly call_id: string;
  readonly output: InputContent;
};
type ApprovalResponse = {
  readonly type: "mcp_approval_response";
  readonly approval_request_id: string;
  readonly approve: boolean;
  readonly reason?: string | null | undefined;
};

/** New input: text, or items. */
export const responseInput: z.ZodType<string | readonly InputItem[]> = z.union([
  text.min(1),
  z.array(item).min(1).max(10_000),
]);

/** An answer to a pending call. */
export type InputAnswer = FunctionOutput | ApprovalResponse;

function isAnswer(given: InputItem): given is InputAnswer {
  return given.type === "function_call_output" || given.type === "mcp_approval_response";
}

/** Converts items to chat messages. Approvals are dropped, because the client's history is not trusted. */
export function toChatMessages(items: readonly InputItem[]): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const [index, given] of items.entries()) {
    const where = `Item ${index + 1}`;
    if (given.type === "function_call") addCall(messages, given);
    else if (given.type === "function_call_output") messages.push(toResultMessage(given, where));
    else if (given.type === "mcp_call") {
      addCall(messages, { ...given, call_id: given.id });
      messages.push({ role: "tool", tool_call_id: given.id, content: given.output ?? "No output." });
    } else if ("role" in given) messages.push({ role: given.role, content: toChatContent(given.content) });
  }
  return messages;
}

export function getOutputText(given: FunctionOutput): string {
  return joinMessageText(toChatContent(given.output), "The output of a function");
}

function toResultMessage({ call_id, output }: FunctionOutput, where: string): ChatMessage {
  return { role: "tool", tool_call_id: call_id, content: joinMessageText(toChatContent(output), where) };
}

/** Adds a call to the preceding assistant message, if any. */
function addCall(messages: ChatMessage[], { call_id, name, arguments: given }: FunctionCall): void {
  const call = { id: call_id, function: { name, arguments: given } };
  const last = messages.at(-1);
  if (last?.role === "assistant")
    messages[messages.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), call] };
  else messages.push({ role: "assistant", tool_calls: [call] });
}

function toChatContent(given: InputContent): ChatContent {
  if (typeof given === "string") return given;
  return given.map((each): ChatPart => {
    if (each.type === "refusal") return { type: "text", text: each.refusal };
    if (each.type === "input_image") return { type: "image_url", image_url: { url: each.image_url } };
    if (each.type === "input_file") return { type: "file", file: { file_data: each.file_data } };
    return { type: "text", text: each.text };
  });
}

/** Returns the answers. Throws if there are other items, too, which a waiting run could not process. */
export function getAnswers(items: readonly InputItem[]): readonly InputAnswer[] {
  const answers = items.filter(isAnswer);
  if (answers.length === 0 || answers.length === items.length) return answers;
  throw new AgentError(
    "invalid_input",
    "Send the pending answers alone, and new input when the response is complete.",
  );
}

/** Returns the answers at the end of a history kept by the client. */
export function getTrailingAnswers(items: readonly InputItem[]): readonly InputAnswer[] {
  return items.slice(items.findLastIndex((given) => !isAnswer(given)) + 1).filter(isAnswer);
}

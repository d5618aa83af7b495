import { z } from "zod";
import type { ChatCall, ChatMessage, ChatPart } from "../chat-messages.ts";

const text = z.string().max(1_000_000);
const id = z.string().min(1).max(700);

const textBlock = z.object({ type: z.literal("text"), text });

const inlineOnly = "must have `type: base64`: URLs are not fetched, and files of other APIs are unknown";
const base64 = z.object({
  type: z.literal("base64", inlineOnly),
  media_type: z.string().max(200),
  data: z.string(),
});
const imageBlock = z.object({ type: z.literal("image"), source: base64 });

const plainText = z.object({ type: z.literal("text"), data: text });
const nestedText = z.object({
  type: z.literal("content"),
  content: z.union([text, z.array(z.union([textBlock, imageBlock])).max(100)]),
});
const documentBlock = z.object({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [base64, plainText, nestedText], inlineOnly),
  title: z.string().max(10_000).nullish(),
  context: text.nullish(),
});
const searchResult = z.object({
  type: z.literal("search_result"),
  title: z.string().max(10_000),
  source: z.string().max(10_000),
  content: z.array(textBlock).max(100),
});

const toolResult = z.object({
  type: z.literal("tool_result"),
  tool_use_id: id,
  content: z
    .union([
      text,
      z.array(z.discriminatedUnion("type", [textBlock, imageBlock, documentBlock, searchResult])).max(100),
    ])
    .nullish(),
  is_error: z.boolean().nullish(),
});
const toolUse = z.object({
  type: z.literal("tool_use"),
  id,
  name: z.string().min(1).max(128),
  input: z.unknown().optional(),
});
/** Blocks that this server or Anthropic's sent. Nothing proves what they say, so they are ignored. */
const echoed = z.looseObject({
  type: z.enum([
    ...(["thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result"] as const),
    ...(["web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result"] as const),
    ...(["text_editor_code_execution_tool_result", "tool_search_tool_result", "container_upload"] as const),
  ]),
});

const userBlock = z.discriminatedUnion("type", [
  textBlock,
  imageBlock,
  documentBlock,
  searchResult,
  toolResult,
]);
const assistantBlock = z.discriminatedUnion("type", [textBlock, toolUse, echoed]);

const blocks = <Block extends z.ZodType>(block: Block) => z.union([text, z.array(block).max(1000)]);

/** A text, or blocks of text. */
export const textContent: z.ZodType<TextContent> = blocks(textBlock);
type TextContent = string | readonly { readonly type: "text"; readonly text: string }[];

const message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), content: blocks(userBlock) }),
  z.object({ role: z.literal("assistant"), content: blocks(assistantBlock) }),
  z.object({ role: z.literal("system"), content: blocks(textBlock) }),
]);

/** Messages of Anthropic's API, converted to chat messages. */
export const anthropicMessages: z.ZodType<readonly ChatMessage[]> = z
  .array(message)
  .min(1)
  .max(10_000)
  .transform((messages) => messages.flatMap(toChatMessages));

type UserBlock = z.output<typeof userBlock>;
type ResultBlock = z.output<typeof toolResult>;
type AssistantBlock = z.output<typeof assistantBlock>;

function toChatMessages(given: z.output<typeof message>): readonly ChatMessage[] {
  if (given.role === "system") return [given];
  if (typeof given.content === "string") return [{ role: given.role, content: given.content }];
  return given.role === "user" ? toUserMessages(given.content) : [toAssistantMessage(given.content)];
}

/** Results become separate messages, before the other blocks. */
function toUserMessages(content: readonly UserBlock[]): readonly ChatMessage[] {
  const results = content.filter((block) => block.type === "tool_result");
  const parts = content.flatMap((block) => (block.type === "tool_result" ? [] : toChatParts(block)));
  const rest: readonly ChatMessage[] = parts.length > 0 ? [{ role: "user", content: parts }] : [];
  return [...results.map(toToolMessage), ...rest];
}

function toToolMessage({ tool_use_id, content, is_error }: ResultBlock): ChatMessage {
  const parts = typeof content === "string" ? content : (content ?? []).flatMap(toChatParts);
  return { role: "tool", tool_call_id: tool_use_id, content: parts, isError: is_error === true };
}

function toAssistantMessage(content: readonly AssistantBlock[]): ChatMessage {
  const calls = content.flatMap((block): ChatCall[] =>
    block.type === "tool_use"
      ? [{ id: block.id, function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) } }]
      : [],
  );
  return {
    role: "assistant",
    content: content.filter((block) => block.type === "text"),
    tool_calls: calls,
  };
}

/** Texts of documents and search results become files, so that they do not count as the user's words. */
function toChatParts(block: Exclude<UserBlock, { readonly type: "tool_result" }>): readonly ChatPart[] {
  switch (block.type) {
    case "text":
      return [block];
    case "image":
      return [{ type: "image_url", image_url: { url: formatDataUrl(block.source) } }];
    case "search_result": {
      const found = block.content.map((part) => part.text);
      return [toTextFile([block.title, block.source, ...found])];
    }
    case "document": {
      const { source, title, context } = block;
      const head = [title, context].filter((line) => line != null);
      if (source.type === "base64") {
        const file: ChatPart = { type: "file", file: { file_data: formatDataUrl(source) } };
        return head.length > 0 ? [toTextFile(head), file] : [file];
      }
      if (source.type === "text") return [toTextFile([...head, source.data])];
      if (typeof source.content === "string") return [toTextFile([...head, source.content])];
      const texts = source.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
      const images = source.content.filter((part) => part.type === "image").flatMap(toChatParts);
      return [toTextFile([...head, ...texts]), ...images];
    }
  }
}

function toTextFile(lines: readonly string[]): ChatPart {
  const data = Buffer.from(lines.join("\n\n") || " ").toString("base64");
  return { type: "file", file: { file_data: formatDataUrl({ media_type: "text/plain", data }) } };
}

function formatDataUrl({ media_type: type, data }: { media_type: string; data: string }): string {
  return `data:${type};base64,${data}`;
}

import { isDeepStrictEqual } from "node:util";
import { AgentError, type Entry, type Json, type PendingCall, type UserEntry } from "capstan";
import { z } from "zod";
import { buildApprovalId, createMismatchError } from "../call-ids.ts";
import type { ChatPart } from "../chat-messages.ts";
import { toUserContent } from "../client-history.ts";

export type UiMessage = {
  readonly id?: string | undefined;
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly { readonly type: string; readonly [field: string]: unknown }[];
};

const message: z.ZodType<UiMessage> = z.object({
  id: z.string().max(200).optional(),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(z.looseObject({ type: z.string().max(200) })).max(10_000),
});

/** Request body of `useChat`. Other fields are ignored. */
export const uiChatRequest: z.ZodType<UiChatRequest> = z.object({
  id: z.string().min(1).max(200),
  messages: z.array(message).min(1).max(10_000),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: z.string().max(200).optional(),
  agent: z.string().min(1).max(200).optional(),
  model: z.string().min(1).max(200).optional(),
});

export type UiChatRequest = {
  readonly id: string;
  readonly messages: readonly UiMessage[];
  readonly trigger: "submit-message" | "regenerate-message";
  readonly messageId?: string | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
};

/** Finds the assistant message that a request continues with answers to its run. */
export function findContinuedMessage({ messages, trigger, messageId }: UiChatRequest): UiMessage | undefined {
  if (trigger !== "submit-message") return undefined;
  const named = messages.find(({ id }) => messageId !== undefined && id === messageId);
  const last = messages.at(-1);
  if (last?.role === "assistant") return named?.role === "assistant" ? named : last;
  return named?.role === "assistant" ? named : undefined;
}

/** Whether the last message is new. Otherwise it was edited, or is to be answered again. */
export function isNewMessage({ trigger, messageId }: UiChatRequest): boolean {
  return trigger === "submit-message" && messageId === undefined;
}

/** Returns the content of the newest message. Other messages are ignored. */
export function getNewestContent({ messages }: UiChatRequest): UserEntry["content"] {
  const last = messages.at(-1);
  if (last?.role !== "user")
    throw new AgentError("invalid_input", "The last message must be a user message.");
  const content = toMessageContent(last);
  if (content === undefined) throw new AgentError("invalid_input", `Message ${messages.length} is empty.`);
  return content;
}

/** Whether a message of the user is the input of a run. */
export function hasContent(message: UiMessage | undefined, input: readonly Entry[]): boolean {
  if (message?.role !== "user") return false;
  return isDeepStrictEqual(input, [{ type: "user", content: toMessageContent(message) }]);
}

function toMessageContent({ parts }: UiMessage): UserEntry["content"] | undefined {
  const content = parts.flatMap(toChatParts);
  const [only] = content;
  if (!only) return undefined;
  return content.length === 1 && only.type === "text" ? only.text : toUserContent(content, "The message");
}

function toChatParts(given: UiMessage["parts"][number]): ChatPart[] {
  const { type, text, url, mediaType } = given;
  if (type === "text" && typeof text === "string") return [{ type, text }];
  if (type !== "file" || typeof url !== "string") return [];
  if (typeof mediaType === "string" && mediaType.startsWith("image/"))
    return [{ type: "image_url", image_url: { url } }];
  return [{ type: "file", file: { file_data: url } }];
}

export type CallAnswer =
  | { readonly type: "approve"; readonly callId: string; readonly value?: Json }
  | { readonly type: "deny"; readonly callId: string; readonly reason?: string }
  | { readonly type: "result"; readonly callId: string; readonly value: Json };

const toolPart = z.object({
  toolCallId: z.string(),
  state: z.string(),
  approval: z
    .object({ id: z.string(), approved: z.boolean().optional(), reason: z.string().max(10_000).optional() })
    .optional(),
  output: z.unknown().optional(),
  errorText: z.string().optional(),
});

type ToolPart = z.output<typeof toolPart>;

export function getCallIds({ parts }: UiMessage): readonly string[] {
  return parseToolParts(parts).map(({ toolCallId }) => toolCallId);
}

/** Returns the answers to pending calls. Answers to other calls are ignored. */
export function getPendingAnswers(
  { parts }: UiMessage,
  pending: readonly PendingCall[],
): readonly CallAnswer[] {
  return parseToolParts(parts).flatMap((given) => {
    const call = pending.find(({ callId }) => callId === given.toolCallId);
    if (!call) return [];
    return call.needs === "approval" ? toApprovalAnswer(given, call) : toResultAnswer(given);
  });
}

function parseToolParts(parts: UiMessage["parts"]): readonly ToolPart[] {
  return parts.flatMap((given) => {
    const { success, data } = toolPart.safeParse(given);
    return success ? [data] : [];
  });
}

function toApprovalAnswer({ state, approval }: ToolPart, call: PendingCall): readonly CallAnswer[] {
  if (state !== "approval-responded" || approval?.approved === undefined) return [];
  if (approval.id !== buildApprovalId(call)) throw createMismatchError(call.callId);
  const { callId, question } = call;
  const { approved, reason } = approval;
  if (!approved) return [{ type: "deny", callId, ...(reason !== undefined && { reason }) }];
  // The protocol has no other field for the answer to a question.
  if (!question || reason === undefined) return [{ type: "approve", callId }];
  return [{ type: "approve", callId, value: parseAnswerValue(reason) }];
}

function toResultAnswer({ toolCallId: callId, state, output, errorText }: ToolPart): readonly CallAnswer[] {
  if (state === "output-available") return [{ type: "result", callId, value: (output ?? null) as Json }];
  if (state === "output-error")
    return [{ type: "result", callId, value: { error: errorText ?? "It failed." } }];
  return [];
}

function parseAnswerValue(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text; // a text answer
  }
}

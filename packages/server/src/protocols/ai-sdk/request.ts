import { AgentError, type Json, type PendingCall, type UserEntry } from "capstan";
import { z } from "zod";
import { approvalId, approvalMismatch } from "../call-ids.ts";
import type { ChatPart } from "../chat-messages.ts";
import { clientHistory } from "../client-history.ts";

/** A message as `useChat` has it. */
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

/** What `useChat` sends. What else its `body` option adds is left out. */
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

/** The message of the assistant that a request continues: one with answers to what its run has asked. */
export function continued({ messages, trigger, messageId }: UiChatRequest): UiMessage | undefined {
  if (trigger !== "submit-message") return undefined;
  const named = messages.find(({ id }) => messageId !== undefined && id === messageId);
  const last = messages.at(-1);
  if (last?.role === "assistant") return named?.role === "assistant" ? named : last;
  if (messageId === undefined) return undefined;
  if (named?.role === "assistant") return named;
  throw new AgentError(
    "invalid_input",
    "What was said cannot be changed here: say it as a new message, or in a new chat.",
  );
}

/** What the newest message says: of all messages, nothing else is taken. */
export function newestContent({ messages }: UiChatRequest): UserEntry["content"] {
  const last = messages.at(-1);
  if (last?.role !== "user") throw new AgentError("invalid_input", "The last message must be the user's.");
  return contentOf(last, messages.length);
}

/** What a message of the user says. */
function contentOf({ parts }: UiMessage, number: number): UserEntry["content"] {
  const content = parts.flatMap(contentPart);
  const [entry] = clientHistory([{ role: "user", content }]);
  const [only] = content;
  if (!only || entry?.type !== "user")
    throw new AgentError("invalid_input", `Message ${number} has neither text nor a file.`);
  return content.length === 1 && only.type === "text" ? only.text : entry.content;
}

function contentPart(given: UiMessage["parts"][number]): ChatPart[] {
  const { type, text, url, mediaType } = given;
  if (type === "text" && typeof text === "string") return [{ type, text }];
  if (type !== "file" || typeof url !== "string") return [];
  if (typeof mediaType === "string" && mediaType.startsWith("image/"))
    return [{ type: "image_url", image_url: { url } }];
  return [{ type: "file", file: { file_data: url } }];
}

/** An answer to a call that waits for one. */
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

/** The ids of the calls in a message. */
export function callIdsIn({ parts }: UiMessage): readonly string[] {
  return toolPartsIn(parts).map(({ toolCallId }) => toolCallId);
}

/** What a message says to the calls that wait. What it says of any other call is only its client's word, and not heard. */
export function answersIn({ parts }: UiMessage, pending: readonly PendingCall[]): readonly CallAnswer[] {
  return toolPartsIn(parts).flatMap((given) => {
    const call = pending.find(({ callId }) => callId === given.toolCallId);
    if (!call) return [];
    return call.needs === "approval" ? decisionIn(given, call) : resultIn(given);
  });
}

function toolPartsIn(parts: UiMessage["parts"]): readonly ToolPart[] {
  return parts.flatMap((given) => {
    const { success, data } = toolPart.safeParse(given);
    return success ? [data] : [];
  });
}

function decisionIn({ state, approval }: ToolPart, call: PendingCall): readonly CallAnswer[] {
  if (state !== "approval-responded" || approval?.approved === undefined) return [];
  if (approval.id !== approvalId(call)) throw approvalMismatch(call.callId);
  const { callId, question } = call;
  const { approved, reason } = approval;
  if (!approved) return [{ type: "deny", callId, ...(reason !== undefined && { reason }) }];
  // There is no other place for the answer to a question.
  if (!question || reason === undefined) return [{ type: "approve", callId }];
  return [{ type: "approve", callId, value: parsed(reason) }];
}

function resultIn({ toolCallId: callId, state, output, errorText }: ToolPart): readonly CallAnswer[] {
  if (state === "output-available") return [{ type: "result", callId, value: (output ?? null) as Json }];
  if (state === "output-error")
    return [{ type: "result", callId, value: { error: errorText ?? "It failed." } }];
  return [];
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text; // an answer in words
  }
}

import { AgentError, type PendingCall } from "capstan";
import { z } from "zod";
import type { RunRequest } from "../../runs/start-run.ts";
import type { CallAnswer } from "../ai-sdk/request.ts";
import { buildApprovalId, createMismatchError } from "../call-ids.ts";
import type { ChatPart } from "../chat-messages.ts";
import type { ClientTool } from "../client-agent.ts";
import { type ClientProvenance, createClientEntry } from "../client-entry.ts";
import { toUserContent } from "../client-history.ts";

export type AgUiInput = {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content?: unknown;
    readonly toolCallId?: string | undefined;
    readonly error?: string | undefined;
    readonly toolCalls?: readonly { readonly id: string }[] | undefined;
  }[];
  readonly tools: readonly ClientTool[];
  readonly context: readonly { readonly description: string; readonly value: string }[];
  readonly state?: unknown;
  readonly resume: readonly {
    readonly interruptId: string;
    readonly status: "resolved" | "cancelled";
    readonly payload?: unknown;
  }[];
};

const name = z.string().min(1).max(200);

const message = z.object({
  id: z.string().max(500).optional(),
  role: z.string().max(50),
  content: z.unknown().optional(),
  toolCallId: z.string().max(500).optional(),
  error: z.string().max(100_000).optional(),
  toolCalls: z.array(z.looseObject({ id: z.string().max(500) })).optional(),
});

const tool = z.object({
  name: z.string().min(1).max(128),
  description: z.string().max(20_000).default(""),
  parameters: z.record(z.string(), z.unknown()).optional(),
});

const resumed = z.object({
  interruptId: z.string().max(1000),
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown().optional(),
});

const input: z.ZodType<AgUiInput> = z.object({
  threadId: name,
  runId: name,
  messages: z.array(message).max(10_000),
  tools: z.array(tool).max(128).default([]),
  context: z
    .array(z.object({ description: z.string().max(20_000), value: z.string().max(200_000) }))
    .max(100)
    .default([]),
  state: z.unknown().optional(),
  forwardedProps: z.unknown().optional(),
  resume: z.array(resumed).max(1000).default([]),
  parentRunId: z.string().max(200).optional(),
  protocolVersion: z.string().max(50).optional(),
});

/** Wrapped in `input`: its `runId` is chosen by the client and must not be checked as one of our runs. */
export const agUiRequest: z.ZodType<{ readonly input: AgUiInput }> = input.transform((given) => ({
  input: given,
}));

/** Renames `runId` for the same reason. */
export const agUiStopRequest: z.ZodType<{ readonly run?: string | undefined }> = z
  .strictObject({ runId: name.optional() })
  .default({})
  .transform(({ runId }) => ({ run: runId }));

type Message = AgUiInput["messages"][number];

/** Returns the newest message, after the application's context. Other messages are ignored. */
export function getNewestInput(
  { messages, context, state }: AgUiInput,
  provenance: ClientProvenance,
): RunRequest["input"] {
  const last = messages.at(-1);
  if (last?.role !== "user")
    throw new AgentError("invalid_input", "The last message must be a user message or a tool result.");
  const parts = parseContentParts(last.content);
  const [only] = parts;
  if (!only) throw new AgentError("invalid_input", "The last message is empty.");
  const content =
    parts.length === 1 && only.type === "text" ? only.text : toUserContent(parts, "The last message");
  const text = formatContext(context, state);
  if (text === "") return content;
  return { history: [createClientEntry(provenance, text), { type: "user", content }] };
}

function formatContext(context: AgUiInput["context"], state: unknown): string {
  const isEmpty = state === null || state === undefined || JSON.stringify(state) === "{}";
  const lines = context.map(({ description, value }) => `- ${description}: ${value}`);
  return [...lines, ...(isEmpty ? [] : [`- State of the application: ${JSON.stringify(state)}`])].join("\n");
}

const part = z.union([
  z.object({ type: z.literal("text"), text: z.string().max(1_000_000) }),
  z.object({
    type: z.enum(["image", "document", "audio", "video"]),
    source: z.object({ type: z.literal("data"), value: z.string(), mimeType: z.string().max(200) }),
  }),
]);

function parseContentParts(content: unknown): ChatPart[] {
  if (typeof content === "string") return content ? [{ type: "text", text: content }] : [];
  const { success, data } = z.array(part).max(100).safeParse(content);
  if (!success)
    throw new AgentError("invalid_input", "A message must contain text or inline files (`data`).");
  return data.map((each): ChatPart => {
    if (each.type === "text") return each;
    const url = `data:${each.source.mimeType};base64,${each.source.value}`;
    return each.type === "image"
      ? { type: "image_url", image_url: { url } }
      : { type: "file", file: { file_data: url } };
  });
}

/** Whether a request answers a waiting run instead of starting one. */
export function isResume({ messages, resume }: AgUiInput): boolean {
  return resume.length > 0 || messages.at(-1)?.role === "tool";
}

export function getKnownCallIds({ messages }: AgUiInput): readonly string[] {
  return messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
}

/** Returns the answers to pending calls. Answers to other calls are ignored. */
export function getCallAnswers(
  { messages, resume }: AgUiInput,
  pending: readonly PendingCall[],
): readonly CallAnswer[] {
  const decisions = resume.map((entry): CallAnswer => {
    const call = pending.find(
      (one) => one.needs === "approval" && buildApprovalId(one) === entry.interruptId,
    );
    if (!call) throw createMismatchError(entry.interruptId.split(":")[0] ?? "");
    return toDecision(entry, call);
  });
  const results = pending.flatMap(({ callId, needs }): CallAnswer[] => {
    const given = messages.findLast(({ role, toolCallId }) => role === "tool" && toolCallId === callId);
    return needs === "answer" && given ? [{ type: "result", callId, value: toResultValue(given) }] : [];
  });
  return [...decisions, ...results];
}

const decision = z.object({
  approved: z.boolean(),
  reason: z.string().max(10_000).optional(),
  value: z.json().optional(),
});

function toDecision({ status, payload }: AgUiInput["resume"][number], { callId }: PendingCall): CallAnswer {
  if (status === "cancelled") return { type: "deny", callId, reason: "Cancelled by the user." };
  const { success, data } = decision.safeParse(payload);
  if (!success)
    throw new AgentError(
      "invalid_input",
      `The answer to call "${callId}" must contain \`approved\`: true or false.`,
    );
  const { approved, reason, value } = data;
  if (!approved) return { type: "deny", callId, ...(reason !== undefined && { reason }) };
  return { type: "approve", callId, ...(value !== undefined && { value }) };
}

function toResultValue({ content, error }: Message): string | { readonly error: string } {
  if (error !== undefined) return { error };
  return parseContentParts(content)
    .map((each) => (each.type === "text" ? each.text : `[${each.type}]`))
    .join("");
}

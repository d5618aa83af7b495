import type { CallToolResult, JsonSchemaType } from "@modelcontextprotocol/server";
import { type ErrorCode, errorCodes, type PendingCall, type Result } from "capstan";

const stringSchema = { type: "string" } as const;
const objectSchema = { type: "object" } as const;

/** Output schema of the agent tools. */
export const answerSchema: JsonSchemaType = {
  type: "object",
  properties: {
    answer: { ...stringSchema, description: "The agent's answer." },
    status: { ...stringSchema, enum: ["done", "limit", "failed", "cancelled", "waiting"] },
    turns: { type: "integer" },
    tools: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: stringSchema,
          arguments: { description: "The input of the call, as the model wrote it." },
          status: stringSchema,
          ms: { type: "number" },
        },
        required: ["name", "arguments", "status", "ms"],
      },
    },
    reasoning: {
      type: "array",
      description: "The model's reasoning, in order.",
      items: {
        type: "object",
        properties: { turn: { type: "integer" }, text: stringSchema },
        required: ["turn", "text"],
      },
    },
    usage: {
      type: "object",
      properties: { inputTokens: { type: "number" }, outputTokens: { type: "number" } },
      required: ["inputTokens", "outputTokens"],
    },
    output: { description: "The structured answer of an agent with an output schema." },
    session: {
      ...stringSchema,
      description: "Pass it as sessionId with the next call to continue this conversation.",
    },
    runId: stringSchema,
    pending: {
      type: "array",
      description: "Calls that the run waits for.",
      items: {
        type: "object",
        properties: {
          callId: stringSchema,
          name: stringSchema,
          needs: { ...stringSchema, enum: ["approval", "answer"] },
          shown: { ...stringSchema, description: "The input of the call, to display to the user." },
          reason: stringSchema,
          expiresAt: { ...stringSchema, description: "When the call is denied if nobody has decided." },
          question: objectSchema,
        },
        required: ["callId", "name", "needs", "shown", "reason"],
      },
    },
    error: {
      type: "object",
      properties: { code: stringSchema, message: stringSchema },
      required: ["code", "message"],
    },
  },
  required: ["answer", "status", "turns", "tools", "reasoning", "usage", "session", "runId"],
};

/** Converts the result of a run to structured content, plus text for clients that read only that. */
export function toCallResult(result: Result, sessionId: string): CallToolResult {
  const { status, turns, usage, output, runId, pending, error } = result;
  return {
    content: [
      { type: "text", text: status === "waiting" ? formatWaiting(result) : result.text },
      { type: "text", text: `sessionId: ${sessionId}` },
    ],
    structuredContent: {
      answer: result.text,
      status,
      turns,
      tools: result.toolCalls.map(toToolData),
      reasoning: result.reasoning.map(({ turn, text }) => ({ turn, text })),
      usage: { ...usage },
      session: sessionId,
      runId,
      ...(output !== undefined && { output }),
      ...(pending.length > 0 && { pending: pending.map(toPendingData) }),
      ...(error && { error: { code: error.code, message: error.message } }),
    },
    ...((status === "failed" || status === "cancelled") && { isError: true }),
  };
}

function toToolData({ name, input, status, ms }: Result["toolCalls"][number]): Record<string, unknown> {
  return { name, arguments: input, status, ms };
}

function toPendingData({
  callId,
  name,
  needs,
  shown,
  reason,
  expiresAt,
  question,
}: PendingCall): Record<string, unknown> {
  return {
    ...{ callId, name, needs, shown, reason },
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    ...(question && { question }),
  };
}

function formatWaiting({ text: summary, pending, runId }: Result): string {
  const calls = pending.map(({ callId, name, shown }) => `- ${callId}: ${name} ${shown}`);
  const next = `Ask the user, then call \`resume\` with runId "${runId}" and these ids under \`approve\`, \`deny\` or \`answers\`.`;
  return [summary, ...calls, next].join("\n");
}

/** Returns the code of an `AgentError`, whose message may be shown to the client. */
export function findErrorCode(thrown: unknown): ErrorCode | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  const code = String(thrown.code);
  return Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : undefined;
}

type CallErrorOptions = {
  /** Set if the run still waits. */
  readonly runId?: string | undefined;
  readonly formatMessage?: (message: string) => string;
};

/** Converts an error to a tool result that a model can act on. */
export function toCallError(
  thrown: unknown,
  { runId, formatMessage = String }: CallErrorOptions = {},
): CallToolResult {
  const code = findErrorCode(thrown);
  const message = code
    ? `${code}: ${formatMessage((thrown as Error).message)}`
    : "failed: The call failed; see the server's log.";
  const hint = runId === undefined ? "" : `\nTo continue, call \`resume\` with runId "${runId}".`;
  return { content: [{ type: "text", text: message + hint }], isError: true };
}

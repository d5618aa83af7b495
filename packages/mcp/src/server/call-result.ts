import type { CallToolResult, JsonSchemaType } from "@modelcontextprotocol/server";
import { type ErrorCode, errorCodes, type PendingCall, type Result } from "capstan";

const text = { type: "string" } as const;
const open = { type: "object" } as const;

/** What a call to an agent gives. */
export const answerSchema: JsonSchemaType = {
  type: "object",
  properties: {
    answer: { ...text, description: "What the agent says." },
    status: { ...text, enum: ["done", "limit", "failed", "cancelled", "waiting"] },
    turns: { type: "integer" },
    tools: {
      type: "array",
      items: {
        type: "object",
        properties: { name: text, status: text, ms: { type: "number" } },
        required: ["name", "status", "ms"],
      },
    },
    usage: {
      type: "object",
      properties: { inputTokens: { type: "number" }, outputTokens: { type: "number" } },
      required: ["inputTokens", "outputTokens"],
    },
    output: { description: "Of an agent whose answers have a form: the answer in it." },
    session: {
      ...text,
      description: "Give it with the next call, as sessionId, to go on with this conversation.",
    },
    runId: text,
    pending: {
      type: "array",
      description: "What the run waits for.",
      items: {
        type: "object",
        properties: {
          callId: text,
          name: text,
          needs: { ...text, enum: ["approval", "answer"] },
          shown: { ...text, description: "The input of the call, as a person is to be shown it." },
          reason: text,
          question: open,
        },
        required: ["callId", "name", "needs", "shown", "reason"],
      },
    },
    error: { type: "object", properties: { code: text, message: text }, required: ["code", "message"] },
  },
  required: ["answer", "status", "turns", "tools", "usage", "session", "runId"],
};

/** The result of a run as data, with words beside it for those who read only these. */
export function callResult(result: Result, sessionId: string): CallToolResult {
  const { status, turns, usage, output, runId, pending, error } = result;
  return {
    content: [
      { type: "text", text: status === "waiting" ? waitingText(result) : result.text },
      { type: "text", text: `sessionId: ${sessionId}` },
    ],
    structuredContent: {
      answer: result.text,
      status,
      turns,
      tools: result.toolCalls.map(({ name, status: outcome, ms }) => ({ name, status: outcome, ms })),
      usage: { ...usage },
      session: sessionId,
      runId,
      ...(output !== undefined && { output }),
      ...(pending.length > 0 && { pending: pending.map(described) }),
      ...(error && { error: { code: error.code, message: error.message } }),
    },
    ...((status === "failed" || status === "cancelled") && { isError: true }),
  };
}

function described({ callId, name, needs, shown, reason, question }: PendingCall): Record<string, unknown> {
  return { callId, name, needs, shown, reason, ...(question && { question }) };
}

function waitingText({ text: summary, pending, runId }: Result): string {
  const calls = pending.map(({ callId, name, shown }) => `- ${callId}: ${name} ${shown}`);
  const next = `Ask the user, then call \`resume\` with runId "${runId}" and these ids under \`approve\`, \`deny\` or \`answers\`.`;
  return [summary, ...calls, next].join("\n");
}

/** The code of an error that is one of ours, whose message is meant to be read by others. */
export function codeOf(thrown: unknown): ErrorCode | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  const code = String(thrown.code);
  return Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : undefined;
}

type Wording = {
  /** Of a run that still waits. */
  readonly runId?: string | undefined;
  readonly reworded?: (message: string) => string;
};

/** What went wrong, as a tool result that a model can read and act on. */
export function callError(thrown: unknown, { runId, reworded = String }: Wording = {}): CallToolResult {
  const code = codeOf(thrown);
  const message = code
    ? `${code}: ${reworded((thrown as Error).message)}`
    : "failed: The call could not be carried out; the server's log says why.";
  const hint = runId === undefined ? "" : `\nTo go on, call \`resume\` with runId "${runId}".`;
  return { content: [{ type: "text", text: message + hint }], isError: true };
}

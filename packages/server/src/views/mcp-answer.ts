import { randomUUID } from "node:crypto";
import { AgentError, type Question, type Tool, type ToolContext, type ToolReturn } from "capstan";
import type { McpAnswer, McpFailure } from "capstan/client";

const mcpCodes: ReadonlySet<string> = new Set([
  ...["mcp_config", "mcp_disconnected", "mcp_protocol", "mcp_untrusted", "tool_failed", "unknown_tool"],
]);

/** Whether an error describes an MCP server, so that an admin may read it. */
export function isMcpError(thrown: unknown): thrown is AgentError {
  return thrown instanceof AgentError && mcpCodes.has(thrown.code);
}

/** What a server answered is data, and so is its failure. */
export async function readMcpAnswer<Answer extends object>(
  read: () => Promise<Answer>,
): Promise<Answer | McpFailure> {
  try {
    return await read();
  } catch (thrown) {
    if (!isMcpError(thrown)) throw thrown;
    return { error: { code: thrown.code, message: thrown.message } };
  }
}

const maxTextLength = 200_000;
const maxQuestions = 10;
const defaultTimeoutMs = 60_000;

/** Calls a tool for a user, outside of a run. Questions of the server are declined. */
export async function callMcpTool(tool: Tool, input: unknown, signal: AbortSignal): Promise<McpAnswer> {
  const checked = await tool.schema.validate(structuredClone(input));
  if (!checked.valid)
    throw new AgentError("bad_arguments", `Invalid arguments: ${checked.issues.slice(0, 10).join("; ")}.`);
  const timeoutMs = tool.timeoutMs ?? defaultTimeoutMs;
  const timeout = AbortSignal.timeout(timeoutMs);
  const startedAt = performance.now();
  const declined: string[] = [];
  try {
    const result = await executeUntilAnswered(tool, checked.value, {
      signal: AbortSignal.any([signal, timeout]),
      declined,
    });
    return { ...toMcpAnswer(result), declined, ms: Math.round(performance.now() - startedAt) };
  } catch (thrown) {
    const ms = Math.round(performance.now() - startedAt);
    if (timeout.aborted)
      return { error: { code: "tool_timeout", message: `No answer within ${timeoutMs} ms.` }, declined, ms };
    if (!isMcpError(thrown)) throw thrown;
    return { error: { code: thrown.code, message: thrown.message }, declined, ms };
  }
}

type ExecuteOptions = { readonly signal: AbortSignal; readonly declined: string[] };

async function executeUntilAnswered(
  tool: Tool,
  input: unknown,
  { signal, declined }: ExecuteOptions,
): Promise<ToolReturn> {
  const callId = randomUUID();
  const questions: Question[] = [];
  for (;;) {
    const context: ToolContext = {
      ...{ signal, runId: callId, sessionId: "", callId, idempotencyKey: `${callId}/try`, context: {} },
      answers: questions.map(({ state }) => ({ approved: false, ...(state !== undefined && { state }) })),
      progress: () => undefined,
      readBlob: async () => undefined,
    };
    const result = (await tool.execute?.(input, context)) as ToolReturn;
    if (!result.ask) return result;
    questions.push(result.ask);
    declined.push(truncateLongText(result.ask.message));
    if (questions.length > maxQuestions)
      throw new AgentError("mcp_protocol", "The server asked too many questions.");
  }
}

function toMcpAnswer({ content, data, error }: ToolReturn): Omit<McpAnswer, "declined" | "ms"> {
  const message = typeof error === "string" ? error : error?.message;
  return {
    ...(content !== undefined && {
      content: typeof content === "string" ? truncateLongText(content) : [...content],
    }),
    ...(data !== undefined && { data: data as never }),
    ...(message !== undefined && { error: { code: "tool_failed", message: truncateLongText(message) } }),
  };
}

function truncateLongText(text: string): string {
  if (text.length <= maxTextLength) return text;
  return `${text.slice(0, maxTextLength).toWellFormed()}… (${text.length} characters)`;
}

// The log of a run, line by line, and its structured result: `?events=log`. The names are those of the logger of an
// agentic loop behind an MCP server: `info`, `error`, `reasoning`, `toolCall`, `toolResult`, and `result` at the end.
import type { EventView, ViewEvent } from "@capstan/server";
import { type Event, type Json, toPlainText } from "capstan";

type CallRecord = {
  readonly tool: string;
  readonly args: Json;
  readonly status: string;
  readonly content: string;
};

export const runLog: EventView = {
  description: "The log of the loop: turns, reasoning, tool calls, and the structured result",
  create() {
    const reasoningSteps: string[] = [];
    /** By turn and id: some providers reuse ids. */
    const calls = new Map<string, CallRecord>();

    return (event): readonly ViewEvent[] => {
      if (event.parentRunId !== undefined) return [];
      switch (event.type) {
        case "run_start":
          return [logInfo(`Starting agentic loop for session ${event.sessionId}`)];
        case "turn_start": {
          const turn = logInfo(`Turn ${event.turn}/${event.maxTurns}`);
          const hasFailed = event.tools === "unavailable";
          return hasFailed
            ? [logError("All tools failed, answering from the model's knowledge"), turn]
            : [turn];
        }
        case "message": {
          const { reasoning, callCount } = readMessage(event);
          reasoningSteps.push(...reasoning);
          return [
            ...reasoning.map((text) => ({ event: "reasoning", data: { turn: event.turn, text } })),
            ...(callCount > 0
              ? [logInfo(`Detected ${callCount} tool call${callCount === 1 ? "" : "s"}`)]
              : []),
          ];
        }
        case "tool_call_start": {
          const { id, turn, name: tool, arguments: args } = event;
          calls.set(`${turn} ${id}`, { tool, args, status: "running", content: "" });
          return [{ event: "toolCall", data: { tool, args } }];
        }
        case "tool_call_result": {
          const { id, turn, name: tool, is_error: isError, attempts } = event;
          const content = toPlainText(event.result);
          const status = isError ? "error" : "success";
          const { args } = calls.get(`${turn} ${id}`) ?? { args: {} };
          calls.set(`${turn} ${id}`, { tool, args, status, content });
          const failure = logError(
            `Tool ${tool} failed after ${attempts} attempt${attempts === 1 ? "" : "s"}`,
          );
          return [{ event: "toolResult", data: { tool, status, content } }, ...(isError ? [failure] : [])];
        }
        case "limit_reached":
          return [
            logError(event.code === "max_turns" ? `Max turns (${event.turns}) exceeded` : event.message),
          ];
        case "done": {
          const { text: finalOutput, status, usage, sessionId } = event;
          const result = { finalOutput, status, reasoningSteps, toolCallHistory: [...calls.values()] };
          return [
            status === "failed" ? logError(finalOutput) : logInfo("Final output generated"),
            { event: "result", data: { ...result, usage, sessionId } },
          ];
        }
        default:
          return [];
      }
    };
  },
};

const logInfo = (message: string): ViewEvent => ({ event: "info", data: { message } });
const logError = (message: string): ViewEvent => ({ event: "error", data: { message } });

function readMessage({ entry: { parts } }: Extract<Event, { readonly type: "message" }>): {
  readonly reasoning: readonly string[];
  readonly callCount: number;
} {
  return {
    reasoning: parts.flatMap((part) => (part.type === "reasoning" && part.text !== "" ? [part.text] : [])),
    callCount: parts.filter(({ type }) => type === "call").length,
  };
}

// The ACP v1 wire: maps run events to `session/update` notifications. Pure: events in, updates out.
//
// Of a nested run only the calls are sent, with the name of their agent. Pending calls are sent as
// session/request_permission, and the end of the run answers session/prompt: see `prompt-turn.ts`.
import type { ContentBlock, PlanEntry, SessionUpdate, StopReason, ToolCall } from "@agentclientprotocol/sdk";
import {
  type CallPart,
  type Entry,
  type Event,
  type Fact,
  isContext,
  type Json,
  type Part,
  type Result,
} from "capstan";
import { restartsMessage } from "capstan/client";
import {
  buildCallContent,
  buildProposedChanges,
  findLocations,
  formatCallTitle,
  formatResultText,
  getToolKind,
  quoteText,
} from "./call-shape.ts";

/** Maps each event to its ACP message, for the docs. */
export const acpMapping: Readonly<Record<string, string>> = {
  run_start: "`user_message_chunk`, only when a session is loaded",
  steered: "`user_message_chunk`, only when a session is loaded",
  content_delta: "`agent_message_chunk`",
  message_restart: "the next chunks have another `messageId`",
  reasoning_delta: "`agent_thought_chunk`",
  message: "`tool_call` (pending) for each of its calls",
  tool_call_start: "`tool_call_update` (in_progress)",
  tool_progress: "`tool_call_update` with content",
  tool_call_result: "`tool_call_update` (completed, failed); `plan`, of the plan tool",
  handoff: "`tool_call_update` (in_progress)",
  waiting: "`session/request_permission`",
  done: "what the model has not said itself as `agent_message_chunk`, `usage_update`; the stop reason answers `session/prompt`",
};

/** Updates of one session, in the order of its events. */
export interface SessionUpdates {
  /** Updates for an event of a run that the editor follows. */
  fromEvent(event: Event): readonly SessionUpdate[];
  /** Updates for a stored fact, including user messages and failed endings. */
  fromStoredFact(fact: Fact): readonly SessionUpdate[];
}

type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;
type Updates = readonly SessionUpdate[];

/** `cwd` resolves the paths in calls. */
export function createSessionUpdates(cwd: string): SessionUpdates {
  const words = createTextUpdates();
  const calls = createCallUpdates(cwd);
  const usage = createUsageUpdates();
  function live(event: Event): Updates {
    if (event.parentRunId !== undefined) return calls.fromEvent(event, event.agent);
    const updates = [...words.fromEvent(event), ...calls.fromEvent(event)];
    if (event.type === "tool_call_result") return [...updates, ...buildPlan(event)];
    return [...updates, ...usage.fromEvent(event)];
  }
  return {
    fromEvent: live,
    fromStoredFact(fact) {
      if (fact.parentRunId !== undefined) return live(fact);
      if (fact.type === "run_start")
        return [...live(fact), ...fact.input.flatMap(createEntryConverter(fact.id))];
      if (fact.type === "steered") return [...live(fact), ...createEntryConverter(fact.id)(fact.entry, 0)];
      // For a followed run, the response to the prompt reports this.
      const isBroken = fact.type === "done" && (fact.status === "failed" || fact.status === "cancelled");
      return isBroken ? [...live(fact), ...words.fromEnd(fact)] : live(fact);
    },
  };
}

type TextUpdates = {
  fromEvent(event: Event): Updates;
  /** The part of the answer that the model did not write, such as a limit's answer. */
  fromEnd(event: EventOf<"done">): Updates;
};

function createTextUpdates(): TextUpdates {
  let turn = 0;
  let attempt = 0;
  let streamed = { text: "", thought: "" };
  let lastText = "";
  const getMessageId = ({ runId }: Event) => `${runId}-${turn}${attempt > 0 ? `-${attempt}` : ""}`;
  /** A discarded message stays visible, so the next attempt gets another id. */
  function startAttempt(): void {
    if (streamed.text !== "" || streamed.thought !== "") attempt += 1;
    streamed = { text: "", thought: "" };
  }
  function setTurn(event: Event): void {
    if (event.turn !== turn) attempt = 0;
    turn = event.turn;
  }
  function fromMessage(event: EventOf<"message">): Updates {
    const { parts } = event.entry;
    const joined = (type: "text" | "reasoning") =>
      parts.map((part) => (part.type === type ? part.text : "")).join("");
    lastText = joined("text");
    const thought = streamed.thought === "" ? joined("reasoning") : "";
    if (!lastText.startsWith(streamed.text) && !streamed.text.startsWith(lastText)) startAttempt();
    const rest = lastText.slice(streamed.text.length);
    streamed = { text: "", thought: "" };
    return [
      ...buildChunk("agent_thought_chunk", thought, `${getMessageId(event)}-thought`),
      ...buildChunk("agent_message_chunk", rest, getMessageId(event)),
    ];
  }
  function fromEnd(event: EventOf<"done">): Updates {
    const { text } = event;
    const rest = lastText !== "" && text.startsWith(lastText) ? text.slice(lastText.length) : text;
    return buildChunk(
      "agent_message_chunk",
      text.trim() === lastText.trim() ? "" : rest,
      `${event.runId}-end`,
    );
  }
  function fromEvent(event: Event): Updates {
    if (restartsMessage(event)) startAttempt();
    setTurn(event);
    switch (event.type) {
      case "run_start":
        lastText = "";
        return [];
      case "content_delta":
        streamed.text += event.delta;
        return buildChunk("agent_message_chunk", event.delta, getMessageId(event));
      case "reasoning_delta":
        streamed.thought += event.delta;
        return buildChunk("agent_thought_chunk", event.delta, `${getMessageId(event)}-thought`);
      case "message":
        return fromMessage(event);
      case "done":
        return event.status === "done" || event.status === "limit" ? fromEnd(event) : [];
      default:
        return [];
    }
  }
  return { fromEvent, fromEnd };
}

type ChunkType = "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";

function buildChunk(sessionUpdate: ChunkType, text: string, messageId: string): Updates {
  return text === "" ? [] : [{ sessionUpdate, content: { type: "text", text }, messageId }];
}

/** Converts input entries to updates. */
function createEntryConverter(id: string): (entry: Entry, index: number) => Updates {
  return (entry, index) => {
    const messageId = `${id}-${index}`;
    if (isContext(entry)) return [];
    if (entry.type === "user") {
      const parts: readonly Part[] =
        typeof entry.content === "string" ? [{ type: "text", text: entry.content }] : entry.content;
      return parts.map((part) => ({
        sessionUpdate: "user_message_chunk" as const,
        content: toContentBlock(part),
        messageId,
      }));
    }
    if (entry.type !== "assistant") return [];
    const text = entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    return buildChunk("agent_message_chunk", text, messageId);
  };
}

function toContentBlock(part: Part): ContentBlock {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "image" && part.data !== undefined)
    return { type: "image", mimeType: part.mediaType, data: part.data };
  return { type: "text", text: `[${part.type} ${part.mediaType}]` };
}

type CallUpdates = { fromEvent(event: Event, agent?: string): Updates };

function createCallUpdates(cwd: string): CallUpdates {
  /** Run ids of the calls without a result, by call id. */
  const openCalls = new Map<string, string>();
  const announcedCalls = new Set<string>();
  function announceCall(
    event: Event,
    { id, name, input }: Pick<CallPart, "id" | "name"> & { readonly input: Json },
    agent: string | undefined,
  ): Updates {
    if (announcedCalls.has(id)) return [];
    announcedCalls.add(id);
    openCalls.set(id, event.runId);
    const call: ToolCall = {
      ...{
        toolCallId: id,
        name,
        title: formatCallTitle(name, input, agent),
        kind: getToolKind(name),
        status: "pending",
      },
      rawInput: input,
      content: buildProposedChanges(name, input, cwd),
      locations: findLocations(input, cwd),
      ...(event.parentCallId !== undefined && { _meta: { parentToolCallId: event.parentCallId } }),
    };
    return [{ sessionUpdate: "tool_call", ...call }];
  }
  function settleCall(event: EventOf<"tool_call_result">, agent: string | undefined): Updates {
    const { id, name, is_error, result, ui, data } = event;
    const told = announceCall(event, { id, name, input: {} }, agent);
    openCalls.delete(id);
    const content = buildCallContent(result, ui, cwd);
    const rawOutput = { text: formatResultText(result), ...(data !== undefined && { data }) };
    return [...told, buildCallUpdate(id, is_error ? "failed" : "completed", { content, rawOutput })];
  }
  return {
    fromEvent(event, agent) {
      switch (event.type) {
        case "message":
          return event.entry.parts.flatMap((part) =>
            part.type === "call" ? announceCall(event, part, agent) : [],
          );
        case "tool_call_start":
          return [
            // Calls that the model did not make: the fallback tool of a limit.
            ...announceCall(event, { id: event.id, name: event.name, input: event.arguments }, agent),
            buildCallUpdate(event.id, "in_progress"),
          ];
        case "tool_progress":
          return [
            buildCallUpdate(event.id, "in_progress", {
              content: [quoteText(formatProgressData(event.data))],
            }),
          ];
        case "tool_call_result":
          return settleCall(event, agent);
        case "handoff":
          return [buildCallUpdate(event.callId, "in_progress")];
        case "done": {
          const status = event.status === "done" || event.status === "limit" ? "completed" : "failed";
          const left = [...openCalls].filter(([, runId]) => runId === event.runId).map(([id]) => id);
          for (const id of left) openCalls.delete(id);
          return left.map((id) => buildCallUpdate(id, status));
        }
        default:
          return [];
      }
    },
  };
}

function buildCallUpdate(
  toolCallId: string,
  status: NonNullable<ToolCall["status"]>,
  more: Pick<ToolCall, "content" | "rawOutput"> = {},
): SessionUpdate {
  return { sessionUpdate: "tool_call_update", toolCallId, status, ...more };
}

const formatProgressData = (data: Json): string =>
  typeof data === "string" ? data : JSON.stringify(data, undefined, 2);

const planStatus = { open: "pending", doing: "in_progress", done: "completed" } as const;

function buildPlan({ name, ui, is_error }: EventOf<"tool_call_result">): Updates {
  if (name !== "plan" || ui?.kind !== "table" || is_error) return [];
  const { rows } = ui.props as { readonly rows?: Json };
  const entries = (Array.isArray(rows) ? rows : []).flatMap((item): PlanEntry[] => {
    const { text, status } = (item ?? {}) as { readonly text?: Json; readonly status?: Json };
    if (typeof text !== "string" || (status !== "open" && status !== "doing" && status !== "done")) return [];
    return [{ content: text, priority: "medium", status: planStatus[status] }];
  });
  return [{ sessionUpdate: "plan", entries }];
}

/** Context usage, when the policy sets a context budget. */
function createUsageUpdates(): { fromEvent(event: Event): Updates } {
  let size: number | undefined;
  let used = 0;
  let amount = 0;
  return {
    fromEvent(event) {
      if (event.type === "run_start") {
        const { contextBudget } = event.policy;
        size = typeof contextBudget === "number" ? contextBudget : undefined;
      }
      // The next end of the run counts its cost again.
      if (event.type === "retried") amount -= event.usageBefore?.cost ?? 0;
      if (event.type === "message") used = event.usage.inputTokens + event.usage.outputTokens;
      if (event.type !== "done") return [];
      amount += event.cost;
      if (size === undefined) return [];
      return [{ sessionUpdate: "usage_update", used, size, cost: { amount, currency: "USD" } }];
    },
  };
}

const tokenLimits: readonly (string | undefined)[] = ["budget_tokens", "output_truncated"];

/** Returns why a turn ended; undefined when it failed. */
export function toStopReason({ status, error }: Pick<Result, "status" | "error">): StopReason | undefined {
  switch (status) {
    case "done":
      return "end_turn";
    case "limit":
      return tokenLimits.includes(error?.code) ? "max_tokens" : "max_turn_requests";
    case "cancelled":
      return "cancelled";
    case "failed":
      if (error?.code === "output_truncated") return "max_tokens";
      return error?.code === "content_filter" ? "refusal" : undefined;
    case "waiting":
      return undefined;
  }
}

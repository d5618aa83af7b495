// The wire of ACP v1: what an editor is told of a run, as `session/update` notifications. Pure: events in, updates out.
//
// A nested run is the inside of a call: of it only its calls are told, with the name of their agent. What a run waits
// for is asked with session/request_permission, and how it ends is the answer to session/prompt: see `prompt-turn.ts`.
import type { ContentBlock, PlanEntry, SessionUpdate, StopReason, ToolCall } from "@agentclientprotocol/sdk";
import type { CallPart, Entry, Event, Fact, Json, Part, Result } from "capstan";
import {
  contentOf,
  kindOf,
  locationsOf,
  proposedChanges,
  quoted,
  textOfResult,
  titleOf,
} from "./call-shape.ts";

/** What becomes of each event. */
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

/** What is told of one session, in the order of its events. */
export interface SessionUpdates {
  /** Of an event of a run that the editor has begun and follows. */
  live(event: Event): readonly SessionUpdate[];
  /** Of a fact of the past: also what was asked, and how it ended. */
  replayed(fact: Fact): readonly SessionUpdate[];
}

type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;
type Updates = readonly SessionUpdate[];

/** Begins with nothing told. Paths are shown as those of the folder. */
export function sessionUpdates(cwd: string): SessionUpdates {
  const words = toldWords();
  const calls = toldCalls(cwd);
  const usage = toldUsage();
  function live(event: Event): Updates {
    if (event.parentRunId !== undefined) return calls.hear(event, event.agent);
    const heard = [...words.hear(event), ...calls.hear(event)];
    if (event.type === "tool_call_result") return [...heard, ...planOf(event)];
    return [...heard, ...usage.hear(event)];
  }
  return {
    live,
    replayed(fact) {
      if (fact.parentRunId !== undefined) return live(fact);
      if (fact.type === "run_start") return [...live(fact), ...fact.input.flatMap(asSaid(fact.id))];
      if (fact.type === "steered") return [...live(fact), ...asSaid(fact.id)(fact.entry, 0)];
      // Of a run that is followed, the answer to the prompt says so.
      const isBroken = fact.type === "done" && (fact.status === "failed" || fact.status === "cancelled");
      return isBroken ? [...live(fact), ...words.end(fact)] : live(fact);
    },
  };
}

type ToldWords = {
  hear(event: Event): Updates;
  /** What of the answer no message of the model has said: one that a limit gives is ours. */
  end(event: EventOf<"done">): Updates;
};

function toldWords(): ToldWords {
  let attempt = 0;
  let said = { text: "", thought: "" };
  let last = "";
  const idOf = ({ runId, turn }: Event) => `${runId}-${turn}${attempt > 0 ? `-${attempt}` : ""}`;
  function again(): void {
    if (said.text !== "" || said.thought !== "") attempt += 1;
    said = { text: "", thought: "" };
  }
  function whole(event: EventOf<"message">): Updates {
    const { parts } = event.entry;
    const joined = (type: "text" | "reasoning") =>
      parts.map((part) => (part.type === type ? part.text : "")).join("");
    last = joined("text");
    const thought = said.thought === "" ? joined("reasoning") : "";
    if (!last.startsWith(said.text) && !said.text.startsWith(last)) again();
    return [
      ...chunk("agent_thought_chunk", thought, `${idOf(event)}-thought`),
      ...chunk("agent_message_chunk", last.slice(said.text.length), idOf(event)),
    ];
  }
  function end(event: EventOf<"done">): Updates {
    const { text } = event;
    const rest = last !== "" && text.startsWith(last) ? text.slice(last.length) : text;
    return chunk("agent_message_chunk", text.trim() === last.trim() ? "" : rest, `${event.runId}-end`);
  }
  function hear(event: Event): Updates {
    switch (event.type) {
      case "run_start":
        last = "";
        return [];
      case "turn_start":
        attempt = 0;
        said = { text: "", thought: "" };
        return [];
      case "message_restart":
      case "recovered":
        again();
        return [];
      case "content_delta":
        said.text += event.delta;
        return chunk("agent_message_chunk", event.delta, idOf(event));
      case "reasoning_delta":
        said.thought += event.delta;
        return chunk("agent_thought_chunk", event.delta, `${idOf(event)}-thought`);
      case "message":
        return whole(event);
      case "done":
        return event.status === "done" || event.status === "limit" ? end(event) : [];
      default:
        return [];
    }
  }
  return { hear, end };
}

type Chunk = "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";

function chunk(sessionUpdate: Chunk, text: string, messageId: string): Updates {
  return text === "" ? [] : [{ sessionUpdate, content: { type: "text", text }, messageId }];
}

/** What a client or a person has said before, or has brought along. */
function asSaid(id: string): (entry: Entry, index: number) => Updates {
  return (entry, index) => {
    const messageId = `${id}-${index}`;
    if (entry.type === "user") {
      const parts: readonly Part[] =
        typeof entry.content === "string" ? [{ type: "text", text: entry.content }] : entry.content;
      return parts.map((part) => ({
        sessionUpdate: "user_message_chunk" as const,
        content: blockOf(part),
        messageId,
      }));
    }
    if (entry.type !== "assistant") return [];
    const text = entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    return chunk("agent_message_chunk", text, messageId);
  };
}

function blockOf(part: Part): ContentBlock {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "image" && part.data !== undefined)
    return { type: "image", mimeType: part.mediaType, data: part.data };
  return { type: "text", text: `[${part.type} ${part.mediaType}]` };
}

type ToldCalls = { hear(event: Event, agent?: string): Updates };

function toldCalls(cwd: string): ToldCalls {
  /** By id: which run a call belongs to, as long as it has no result. */
  const open = new Map<string, string>();
  const known = new Set<string>();
  function tell(
    event: Event,
    { id, name, input }: Pick<CallPart, "id" | "name"> & { readonly input: Json },
    agent: string | undefined,
  ): Updates {
    if (known.has(id)) return [];
    known.add(id);
    open.set(id, event.runId);
    const call: ToolCall = {
      ...{ toolCallId: id, name, title: titleOf(name, input, agent), kind: kindOf(name), status: "pending" },
      rawInput: input,
      content: proposedChanges(name, input, cwd),
      locations: locationsOf(input, cwd),
      ...(event.parentCallId !== undefined && { _meta: { parentToolCallId: event.parentCallId } }),
    };
    return [{ sessionUpdate: "tool_call", ...call }];
  }
  function settle(event: EventOf<"tool_call_result">, agent: string | undefined): Updates {
    const { id, name, is_error, result, ui, data } = event;
    const told = tell(event, { id, name, input: {} }, agent);
    open.delete(id);
    const content = contentOf(result, ui, cwd);
    const rawOutput = { text: textOfResult(result), ...(data !== undefined && { data }) };
    return [...told, update(id, is_error ? "failed" : "completed", { content, rawOutput })];
  }
  return {
    hear(event, agent) {
      switch (event.type) {
        case "message":
          return event.entry.parts.flatMap((part) => (part.type === "call" ? tell(event, part, agent) : []));
        case "tool_call_start":
          return [
            // Not said by the model: the fallback tool of a limit.
            ...tell(event, { id: event.id, name: event.name, input: event.arguments }, agent),
            update(event.id, "in_progress"),
          ];
        case "tool_progress":
          return [update(event.id, "in_progress", { content: [quoted(wordsOf(event.data))] })];
        case "tool_call_result":
          return settle(event, agent);
        case "handoff":
          return [update(event.callId, "in_progress")];
        case "done": {
          const status = event.status === "done" || event.status === "limit" ? "completed" : "failed";
          const left = [...open].filter(([, runId]) => runId === event.runId).map(([id]) => id);
          for (const id of left) open.delete(id);
          return left.map((id) => update(id, status));
        }
        default:
          return [];
      }
    },
  };
}

function update(
  toolCallId: string,
  status: NonNullable<ToolCall["status"]>,
  more: Pick<ToolCall, "content" | "rawOutput"> = {},
): SessionUpdate {
  return { sessionUpdate: "tool_call_update", toolCallId, status, ...more };
}

const wordsOf = (data: Json): string =>
  typeof data === "string" ? data : JSON.stringify(data, undefined, 2);

const planStatus = { open: "pending", doing: "in_progress", done: "completed" } as const;

function planOf({ name, ui, is_error }: EventOf<"tool_call_result">): Updates {
  if (name !== "plan" || ui?.kind !== "table" || is_error) return [];
  const { rows } = ui.props as { readonly rows?: Json };
  const entries = (Array.isArray(rows) ? rows : []).flatMap((item): PlanEntry[] => {
    const { text, status } = (item ?? {}) as { readonly text?: Json; readonly status?: Json };
    if (typeof text !== "string" || (status !== "open" && status !== "doing" && status !== "done")) return [];
    return [{ content: text, priority: "medium", status: planStatus[status] }];
  });
  return [{ sessionUpdate: "plan", entries }];
}

/** How full the context is, where the policy says how much there may be. */
function toldUsage(): { hear(event: Event): Updates } {
  let size: number | undefined;
  let used = 0;
  let amount = 0;
  return {
    hear(event) {
      if (event.type === "run_start") {
        const { contextBudget } = event.policy;
        size = typeof contextBudget === "number" ? contextBudget : undefined;
      }
      if (event.type === "message") used = event.usage.inputTokens + event.usage.outputTokens;
      if (event.type !== "done") return [];
      amount += event.cost;
      if (size === undefined) return [];
      return [{ sessionUpdate: "usage_update", used, size, cost: { amount, currency: "USD" } }];
    },
  };
}

/** Why a turn is over; undefined when it failed, which is an error. `isCut`: the model had no room to finish. */
export function stopReasonOf(
  { status, error }: Pick<Result, "status" | "error">,
  isCut: boolean,
): StopReason | undefined {
  switch (status) {
    case "done":
      return isCut ? "max_tokens" : "end_turn";
    case "limit":
      return error?.code === "budget_tokens" ? "max_tokens" : "max_turn_requests";
    case "cancelled":
      return "cancelled";
    case "failed":
      if (error?.code === "output_truncated") return "max_tokens";
      return error?.code === "content_filter" ? "refusal" : undefined;
    case "waiting":
      return undefined;
  }
}

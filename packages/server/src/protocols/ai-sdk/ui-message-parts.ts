import { type AssistantEntry, type Event, getText, type Json, toPlainText } from "capstan";
import { buildApprovalId } from "../call-ids.ts";

export type UiChunk = { readonly type: string; readonly [field: string]: unknown };

type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;

type Kind = "text" | "reasoning";

/** Encodes the text and reasoning of a message. */
export interface TextParts {
  append(kind: Kind, delta: string): readonly UiChunk[];
  close(): readonly UiChunk[];
  reset(): void;
  /** Whether the text so far is a prefix of the complete message. */
  isPrefixOf(entry: AssistantEntry): boolean;
  /** Emits the remaining text of the message, and ends it. */
  complete(entry: AssistantEntry): readonly UiChunk[];
}

export function createTextParts(): TextParts {
  let open: { readonly kind: Kind; readonly id: string } | undefined;
  let count = 0;
  let said: Record<Kind, string> = { text: "", reasoning: "" };

  function close(): readonly UiChunk[] {
    if (!open) return [];
    const { kind, id } = open;
    open = undefined;
    return [{ type: `${kind}-end`, id }];
  }
  function say(kind: Kind, delta: string): readonly UiChunk[] {
    if (!delta) return [];
    said[kind] += delta;
    if (open?.kind === kind) return [{ type: `${kind}-delta`, id: open.id, delta }];
    const before = close();
    const id = `${kind}-${++count}`;
    open = { kind, id };
    return [...before, { type: `${kind}-start`, id }, { type: `${kind}-delta`, id, delta }];
  }
  function forget(): void {
    open = undefined;
    said = { text: "", reasoning: "" };
  }

  return {
    close,
    append: say,
    reset: forget,
    isPrefixOf: (entry) =>
      getText(entry).startsWith(said.text) && getReasoning(entry).startsWith(said.reasoning),
    complete(entry) {
      const isNew = !said.text && !said.reasoning;
      const rest = isNew
        ? entry.parts.flatMap((part) =>
            part.type === "text" || part.type === "reasoning" ? say(part.type, part.text) : [],
          )
        : [
            ...say("reasoning", getReasoning(entry).slice(said.reasoning.length)),
            ...say("text", getText(entry).slice(said.text.length)),
          ];
      const chunks = [...rest, ...close()];
      forget();
      return chunks;
    },
  };
}

function getReasoning({ parts }: AssistantEntry): string {
  return parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
}

type Call = { readonly id: string; readonly name: string; readonly input: Json; readonly raw?: string };

/** Encodes calls from their first delta to their result. */
export interface ToolParts {
  showInput(call: Call): readonly UiChunk[];
  /** Discards the calls of the current step. */
  resetStep(): void;
  /** Encodes an event. Of nested runs, only calls that need approval are shown. */
  encode(event: Event, isNested?: boolean): readonly UiChunk[];
}

/** Creates an encoder; `known` are calls that the client already has. */
export function createToolParts(known: Iterable<string> = []): ToolParts {
  const shown = new Set(known);
  let ofStep: string[] = [];
  /** Approval ids of this stream by call. */
  const asked = new Map<string, string>();
  const refused = new Set<string>();

  function startInput(id: string, toolName: string): readonly UiChunk[] {
    if (shown.has(id)) return [];
    shown.add(id);
    ofStep.push(id);
    return [{ type: "tool-input-start", toolCallId: id, toolName, dynamic: true }];
  }
  function showInput({ id, name: toolName, input, raw }: Call): readonly UiChunk[] {
    const part = { toolCallId: id, toolName, dynamic: true };
    const chunk =
      raw === undefined
        ? { type: "tool-input-available", ...part, input }
        : { type: "tool-input-error", ...part, input: raw, errorText: "Invalid arguments." };
    return [...startInput(id, toolName), chunk];
  }
  const showInputOnce = (call: Call) => (shown.has(call.id) ? [] : showInput(call));

  function requestApproval(event: EventOf<"approval_required">): readonly UiChunk[] {
    const { callId: toolCallId, name, input, reason, shown: visible, question, expiresAt } = event;
    const id = buildApprovalId(event);
    asked.set(toolCallId, id);
    const { state: _, ...about } = question ?? {};
    const data = {
      ...{ toolCallId, reason, shown: visible },
      ...(expiresAt !== undefined && { expiresAt }),
      ...(question && { question: about }),
    };
    return [
      ...showInputOnce({ id: toolCallId, name, input }),
      { type: "tool-approval-request", approvalId: id, toolCallId },
      { type: "data-approval", id, data },
    ];
  }
  function resolve({ callId, approved, reason }: EventOf<"approval_resolved">): readonly UiChunk[] {
    if (!approved) refused.add(callId);
    const id = asked.get(callId);
    const said = { approved, ...(reason !== undefined && { reason }) };
    return id === undefined ? [] : [{ type: "tool-approval-response", approvalId: id, ...said }];
  }
  function settle(event: EventOf<"tool_call_result">): readonly UiChunk[] {
    const { id: toolCallId, name, ui } = event;
    return [
      ...showInputOnce({ id: toolCallId, name, input: {} }),
      toOutputChunk(event, refused.has(toolCallId)),
      ...(ui ? [{ type: "data-ui", id: toolCallId, data: { ...ui, toolCallId } }] : []),
    ];
  }

  return {
    showInput,
    resetStep() {
      for (const id of ofStep) shown.delete(id);
      ofStep = [];
    },
    encode(event, isNested = false) {
      if (event.type === "turn_start") ofStep = [];
      if (event.type === "approval_required") return requestApproval(event);
      if (event.type === "approval_resolved") return resolve(event);
      if (!("id" in event) || (isNested && !shown.has(event.id))) return [];
      if (event.type === "tool_call_delta") return [...startInput(event.id, event.name), toInputDelta(event)];
      // The message of a hosted call does not contain it.
      if (event.type === "tool_call_start")
        return (event.hosted ? showInput : showInputOnce)({ ...event, input: event.arguments });
      if (event.type === "tool_progress" && shown.has(event.id))
        return [
          { type: "tool-output-available", toolCallId: event.id, output: event.data, preliminary: true },
        ];
      return event.type === "tool_call_result" ? settle(event) : [];
    },
  };
}

function toInputDelta({ id, delta }: EventOf<"tool_call_delta">): UiChunk {
  return { type: "tool-input-delta", toolCallId: id, inputTextDelta: delta };
}

function toOutputChunk(event: EventOf<"tool_call_result">, isRefused: boolean): UiChunk {
  const { id: toolCallId, result, data, is_error, status } = event;
  if (status === "denied" && isRefused) return { type: "tool-output-denied", toolCallId };
  const part = { toolCallId, dynamic: true };
  if (is_error) return { type: "tool-output-error", ...part, errorText: toPlainText(result) };
  return { type: "tool-output-available", ...part, output: data ?? toPlainText(result) };
}

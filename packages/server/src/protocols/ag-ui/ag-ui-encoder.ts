import type { AssistantEntry, CallPart, Event, Json } from "capstan";
import { getText, toPlainText } from "capstan";
import { trackDiscards } from "../track-discards.ts";

export type AgUiEvent = { readonly type: string; readonly [field: string]: unknown };

type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;

/** Encodes the events of one run or nested run. */
export interface AgUiEncoder {
  readonly isNested: boolean;
  encode(event: Event): readonly AgUiEvent[];
  /** Emits a message that did not come from a model. */
  addMessage(text: string): readonly AgUiEvent[];
  /** Returns the text of the last complete message. */
  getLastText(): string;
  /** Ends open messages, calls and steps. */
  close(): readonly AgUiEvent[];
}

export type AgUiEncoderOptions = {
  readonly isNested: boolean;
  /** Calls that the client knows. */
  readonly shown: Set<string>;
  /** Calls whose results came from the client. */
  readonly answered: ReadonlySet<string>;
  readonly clientTools: ReadonlySet<string>;
};

/** Creates an encoder for a run, from any point of it. */
export function createAgUiEncoder(runId: string, options: AgUiEncoderOptions): AgUiEncoder {
  const tag = options.isNested ? { subagentRunId: runId } : {};
  const text = createTextEncoder(runId, tag);
  const calls = createCallEncoder(tag, options);
  let step: string | undefined;
  let last = "";
  const isDiscarded = trackDiscards();

  function closeStep(): readonly AgUiEvent[] {
    const events = [...text.close(), ...calls.close()];
    if (step !== undefined) events.push({ type: "STEP_FINISHED", stepName: step, ...tag });
    step = undefined;
    return events;
  }
  function restart(): readonly AgUiEvent[] {
    const value = { messageId: text.messageId() };
    const events = [...text.close(), ...calls.withdraw()];
    text.startNextMessage();
    return [...events, { type: "CUSTOM", name: "message_restart", value, ...tag }];
  }
  function encodeModelMessage({ entry, citations = [] }: EventOf<"message">): readonly AgUiEvent[] {
    last = getText(entry);
    const taken = text.isStartOf(entry) ? [] : restart();
    const messageId = text.messageId();
    const events = [
      ...taken,
      ...text.complete(entry),
      ...entry.parts.flatMap((part) => (part.type === "call" ? calls.say(part, messageId) : [])),
    ];
    if (citations.length > 0)
      events.push({ type: "CUSTOM", name: "citations", value: { messageId, citations }, ...tag });
    text.startNextMessage();
    return events;
  }

  function encodeEvent(event: Event): readonly AgUiEvent[] {
    switch (event.type) {
      case "turn_start": {
        const before = closeStep();
        step = `turn ${event.turn}`;
        return [...before, { type: "STEP_STARTED", stepName: step, ...tag }];
      }
      case "turn_end":
        return closeStep();
      case "content_delta":
        return text.say(event.delta);
      case "reasoning_delta":
        return text.think(event.delta);
      case "tool_call_delta":
        return calls.encodeDelta(event, text.messageId());
      case "message":
        return encodeModelMessage(event);
      case "steered": {
        const id = `${runId}-said-${event.seq}`;
        return encodeMessage("user", { id, text: toPlainText(event.entry.content), tag });
      }
      default:
        return [...calls.encode(event, text.messageId()), ...encodeCustom(event, tag)];
    }
  }

  return {
    isNested: options.isNested,
    getLastText: () => last,
    close: closeStep,
    addMessage: (text) => (text ? encodeMessage("assistant", { id: `${runId}-answer`, text, tag }) : []),
    encode(event) {
      const discarded = isDiscarded(event) ? restart() : [];
      text.setTurn(event.turn);
      return [...discarded, ...encodeEvent(event)];
    },
  };
}

/** Encodes events that have no equivalent in AG-UI. */
function encodeCustom(event: Event, tag: object): readonly AgUiEvent[] {
  const custom = (name: string, value: object) => [{ type: "CUSTOM", name, value, ...tag }];
  if (event.type === "tool_progress")
    return custom("tool_progress", { toolCallId: event.id, data: event.data });
  if (event.type === "handoff") return custom("handoff", { from: event.from, to: event.to });
  if (event.type === "retry") {
    const { attempt, code, waitMs } = event;
    return custom("retry", { attempt, code, waitMs });
  }
  return event.type === "waiting" && event.until !== undefined
    ? custom("waiting", { until: event.until })
    : [];
}

type WholeMessage = { readonly id: string; readonly text: string; readonly tag: object };

/** Encodes a complete message. */
function encodeMessage(role: "user" | "assistant", { id, text, tag }: WholeMessage): readonly AgUiEvent[] {
  const message = { messageId: id, ...tag };
  return [
    { type: "TEXT_MESSAGE_START", role, ...message },
    { type: "TEXT_MESSAGE_CONTENT", delta: text, ...message },
    { type: "TEXT_MESSAGE_END", ...message },
  ];
}

/** Encodes text and reasoning, message by message. */
function createTextEncoder(runId: string, tag: object) {
  let turn = 0;
  let number = 1;
  let reasoningCount = 0;
  let textId: string | undefined;
  let reasoningId: string | undefined;
  let streamedText = "";
  let streamedReasoning = "";
  const getMessageId = () => `${runId}-${turn}-${number}`;

  function endReasoning(): readonly AgUiEvent[] {
    if (reasoningId === undefined) return [];
    const ended = { messageId: reasoningId, ...tag };
    reasoningId = undefined;
    return [
      { type: "REASONING_MESSAGE_END", ...ended },
      { type: "REASONING_END", ...ended },
    ];
  }
  function appendText(delta: string): readonly AgUiEvent[] {
    if (!delta) return [];
    streamedText += delta;
    const id = { messageId: getMessageId(), ...tag };
    const first = textId === undefined ? [{ type: "TEXT_MESSAGE_START", role: "assistant", ...id }] : [];
    textId = id.messageId;
    return [...endReasoning(), ...first, { type: "TEXT_MESSAGE_CONTENT", delta, ...id }];
  }
  function appendReasoning(delta: string): readonly AgUiEvent[] {
    if (!delta) return [];
    streamedReasoning += delta;
    const isFirst = reasoningId === undefined;
    reasoningId ??= `${getMessageId()}-reasoning-${++reasoningCount}`;
    const id = { messageId: reasoningId, ...tag };
    const first = [
      { type: "REASONING_START", ...id },
      { type: "REASONING_MESSAGE_START", role: "reasoning", ...id },
    ];
    return [...(isFirst ? first : []), { type: "REASONING_MESSAGE_CONTENT", delta, ...id }];
  }
  function close(): readonly AgUiEvent[] {
    const ended = textId === undefined ? [] : [{ type: "TEXT_MESSAGE_END", messageId: textId, ...tag }];
    textId = undefined;
    return [...endReasoning(), ...ended];
  }

  return {
    messageId: getMessageId,
    say: appendText,
    think: appendReasoning,
    close,
    /** Ids depend only on the run, so they are the same for every reader. */
    setTurn(now: number): void {
      if (now !== turn) number = 1;
      turn = now;
    },
    /** Gives the next message another id. */
    startNextMessage(): void {
      number += 1;
      streamedText = "";
      streamedReasoning = "";
    },
    isStartOf: (entry: AssistantEntry): boolean =>
      getText(entry).startsWith(streamedText) && getReasoningText(entry).startsWith(streamedReasoning),
    /** Emits the remaining text of the message, and ends it. */
    complete: (entry: AssistantEntry): readonly AgUiEvent[] => [
      ...appendReasoning(getReasoningText(entry).slice(streamedReasoning.length)),
      ...appendText(getText(entry).slice(streamedText.length)),
      ...close(),
    ],
  };
}

function getReasoningText({ parts }: AssistantEntry): string {
  return parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
}

/** Encodes calls from their first delta to their result. */
function createCallEncoder(tag: object, { shown, answered, clientTools }: AgUiEncoderOptions) {
  /** Streamed arguments of calls that are still open. */
  const open = new Map<string, string>();

  function begin(id: string, name: string, parentMessageId: string): readonly AgUiEvent[] {
    if (shown.has(id)) return [];
    shown.add(id);
    open.set(id, "");
    return [{ type: "TOOL_CALL_START", toolCallId: id, toolCallName: name, parentMessageId, ...tag }];
  }
  function appendArguments(id: string, delta: string): readonly AgUiEvent[] {
    if (!delta || !open.has(id)) return [];
    open.set(id, open.get(id) + delta);
    return [{ type: "TOOL_CALL_ARGS", toolCallId: id, delta, ...tag }];
  }
  function endCall(id: string): readonly AgUiEvent[] {
    return open.delete(id) ? [{ type: "TOOL_CALL_END", toolCallId: id, ...tag }] : [];
  }
  /** Emits a call at once, or the rest of it. */
  function encodeCall(
    call: Pick<CallPart, "id" | "name" | "raw"> & { readonly input: Json },
    messageId: string,
  ) {
    const { id, name, input, raw } = call;
    const first = begin(id, name, messageId);
    return [
      ...first,
      ...(open.get(id) === "" ? appendArguments(id, raw ?? JSON.stringify(input)) : []),
      ...endCall(id),
    ];
  }
  function settle(event: EventOf<"tool_call_result">, messageId: string): readonly AgUiEvent[] {
    const { id, name, result, status, ui } = event;
    const given = { toolCallId: id, messageId: `${id}-result`, role: "tool", content: toPlainText(result) };
    const props = ui?.props;
    const isObject = typeof props === "object" && props !== null && !Array.isArray(props);
    const hint = {
      messageId: `${id}-ui`,
      activityType: ui?.kind,
      content: isObject ? props : { value: props },
    };
    return [
      ...(shown.has(id) ? endCall(id) : encodeCall({ id, name, input: {} }, messageId)),
      ...(answered.has(id) ? [] : [{ type: "TOOL_CALL_RESULT", ...given, metadata: { status }, ...tag }]),
      ...(ui ? [{ type: "ACTIVITY_SNAPSHOT", ...hint, ...tag }] : []),
    ];
  }

  return {
    say: encodeCall,
    close: () => [...open.keys()].flatMap(endCall),
    /** Withdrawn calls get a result, so that the client does not run them. */
    withdraw: (): readonly AgUiEvent[] =>
      [...open.keys()].flatMap((id) => {
        shown.delete(id);
        const content = "This call was withdrawn.";
        const result = { type: "TOOL_CALL_RESULT", toolCallId: id, messageId: `${id}-void`, content, ...tag };
        return [...endCall(id), result];
      }),
    encodeDelta: (
      { id, name, delta }: EventOf<"tool_call_delta">,
      messageId: string,
    ): readonly AgUiEvent[] =>
      clientTools.has(name) ? [] : [...begin(id, name, messageId), ...appendArguments(id, delta)],
    encode(event: Event, messageId: string): readonly AgUiEvent[] {
      if (event.type === "tool_call_start" && !shown.has(event.id))
        return encodeCall({ ...event, input: event.arguments }, messageId);
      return event.type === "tool_call_result" ? settle(event, messageId) : [];
    },
  };
}

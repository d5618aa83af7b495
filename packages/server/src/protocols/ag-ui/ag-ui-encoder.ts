import type { AssistantEntry, CallPart, Event, Json } from "capstan";
import { getText, toPlainText } from "capstan";

/** An event of AG-UI. */
export type AgUiEvent = { readonly type: string; readonly [field: string]: unknown };

type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;

/** The agent of a run, or a sub-agent: what it says, thinks and calls, and in which step. */
export interface Speaker {
  readonly isNested: boolean;
  hear(event: Event): readonly AgUiEvent[];
  /** A message that no model has said. */
  add(text: string): readonly AgUiEvent[];
  /** The text of its last whole message. */
  last(): string;
  /** Ends whatever is open. */
  close(): readonly AgUiEvent[];
}

export type SpeakerOptions = {
  readonly isNested: boolean;
  /** Calls that the client knows. */
  readonly shown: Set<string>;
  /** Calls whose result the client has given itself. */
  readonly answered: ReadonlySet<string>;
  readonly clientTools: ReadonlySet<string>;
};

/** For one run, or what is left of it. */
export function agUiSpeaker(runId: string, options: SpeakerOptions): Speaker {
  const tag = options.isNested ? { subagentRunId: runId } : {};
  const speech = spoken(runId, tag);
  const calls = called(tag, options);
  let step: string | undefined;
  let last = "";

  function closeStep(): readonly AgUiEvent[] {
    const events = [...speech.close(), ...calls.close()];
    if (step !== undefined) events.push({ type: "STEP_FINISHED", stepName: step, ...tag });
    step = undefined;
    return events;
  }
  function restart(): readonly AgUiEvent[] {
    const value = { messageId: speech.messageId() };
    const events = [...speech.close(), ...calls.withdraw()];
    speech.renew();
    return [...events, { type: "CUSTOM", name: "message_restart", value, ...tag }];
  }
  function message({ entry, citations = [] }: EventOf<"message">): readonly AgUiEvent[] {
    last = getText(entry);
    const taken = speech.isStartOf(entry) ? [] : restart();
    const messageId = speech.messageId();
    const events = [
      ...taken,
      ...speech.complete(entry),
      ...entry.parts.flatMap((part) => (part.type === "call" ? calls.say(part, messageId) : [])),
    ];
    if (citations.length > 0)
      events.push({ type: "CUSTOM", name: "citations", value: { messageId, citations }, ...tag });
    speech.renew();
    return events;
  }

  return {
    isNested: options.isNested,
    last: () => last,
    close: closeStep,
    add: (text) => (text ? spokenBy("assistant", { id: `${runId}-answer`, text, tag }) : []),
    hear(event) {
      speech.at(event.turn);
      switch (event.type) {
        case "turn_start": {
          const before = closeStep();
          step = `turn ${event.turn}`;
          return [...before, { type: "STEP_STARTED", stepName: step, ...tag }];
        }
        case "turn_end":
          return closeStep();
        case "content_delta":
          return speech.say(event.delta);
        case "reasoning_delta":
          return speech.think(event.delta);
        case "tool_call_delta":
          return calls.hearDelta(event, speech.messageId());
        case "message_restart":
          return restart();
        case "message":
          return message(event);
        case "steered":
          return spokenBy("user", {
            id: `${runId}-said-${event.seq}`,
            text: toPlainText(event.entry.content),
            tag,
          });
        default:
          return calls.hear(event, speech.messageId());
      }
    },
  };
}

type Spoken = { readonly id: string; readonly text: string; readonly tag: object };

/** A whole message at once. */
function spokenBy(role: "user" | "assistant", { id, text, tag }: Spoken): readonly AgUiEvent[] {
  const message = { messageId: id, ...tag };
  return [
    { type: "TEXT_MESSAGE_START", role, ...message },
    { type: "TEXT_MESSAGE_CONTENT", delta: text, ...message },
    { type: "TEXT_MESSAGE_END", ...message },
  ];
}

/** The text and the reasoning of one message after another. */
function spoken(runId: string, tag: object) {
  let turn = 0;
  let number = 1;
  let thoughts = 0;
  let text: string | undefined;
  let thought: string | undefined;
  let said = "";
  let wondered = "";
  const messageId = () => `${runId}-${turn}-${number}`;

  function endThought(): readonly AgUiEvent[] {
    if (thought === undefined) return [];
    const ended = { messageId: thought, ...tag };
    thought = undefined;
    return [
      { type: "REASONING_MESSAGE_END", ...ended },
      { type: "REASONING_END", ...ended },
    ];
  }
  function say(delta: string): readonly AgUiEvent[] {
    if (!delta) return [];
    said += delta;
    const id = { messageId: messageId(), ...tag };
    const first = text === undefined ? [{ type: "TEXT_MESSAGE_START", role: "assistant", ...id }] : [];
    text = id.messageId;
    return [...endThought(), ...first, { type: "TEXT_MESSAGE_CONTENT", delta, ...id }];
  }
  function think(delta: string): readonly AgUiEvent[] {
    if (!delta) return [];
    wondered += delta;
    const isFirst = thought === undefined;
    thought ??= `${messageId()}-reasoning-${++thoughts}`;
    const id = { messageId: thought, ...tag };
    const first = [
      { type: "REASONING_START", ...id },
      { type: "REASONING_MESSAGE_START", role: "reasoning", ...id },
    ];
    return [...(isFirst ? first : []), { type: "REASONING_MESSAGE_CONTENT", delta, ...id }];
  }
  function close(): readonly AgUiEvent[] {
    const ended = text === undefined ? [] : [{ type: "TEXT_MESSAGE_END", messageId: text, ...tag }];
    text = undefined;
    return [...endThought(), ...ended];
  }

  return {
    messageId,
    say,
    think,
    close,
    /** Ids are the same whoever reads the run, from wherever. */
    at(now: number): void {
      if (now !== turn) number = 1;
      turn = now;
    },
    /** The next message has another id. */
    renew(): void {
      number += 1;
      said = "";
      wondered = "";
    },
    isStartOf: (entry: AssistantEntry): boolean =>
      getText(entry).startsWith(said) && thoughtOf(entry).startsWith(wondered),
    /** Says what is left of the message, and ends it. */
    complete: (entry: AssistantEntry): readonly AgUiEvent[] => [
      ...think(thoughtOf(entry).slice(wondered.length)),
      ...say(getText(entry).slice(said.length)),
      ...close(),
    ],
  };
}

function thoughtOf({ parts }: AssistantEntry): string {
  return parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
}

/** Calls, from their first letter to their result. */
function called(tag: object, { shown, answered, clientTools }: SpeakerOptions) {
  /** Those whose arguments are still being said, with what was said of them. */
  const open = new Map<string, string>();

  function begin(id: string, name: string, parentMessageId: string): readonly AgUiEvent[] {
    if (shown.has(id)) return [];
    shown.add(id);
    open.set(id, "");
    return [{ type: "TOOL_CALL_START", toolCallId: id, toolCallName: name, parentMessageId, ...tag }];
  }
  function args(id: string, delta: string): readonly AgUiEvent[] {
    if (!delta || !open.has(id)) return [];
    open.set(id, open.get(id) + delta);
    return [{ type: "TOOL_CALL_ARGS", toolCallId: id, delta, ...tag }];
  }
  function end(id: string): readonly AgUiEvent[] {
    return open.delete(id) ? [{ type: "TOOL_CALL_END", toolCallId: id, ...tag }] : [];
  }
  /** At once, or what is left of it. */
  function say(call: Pick<CallPart, "id" | "name" | "raw"> & { readonly input: Json }, messageId: string) {
    const { id, name, input, raw } = call;
    const first = begin(id, name, messageId);
    return [...first, ...(open.get(id) === "" ? args(id, raw ?? JSON.stringify(input)) : []), ...end(id)];
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
      ...(shown.has(id) ? end(id) : say({ id, name, input: {} }, messageId)),
      ...(answered.has(id) ? [] : [{ type: "TOOL_CALL_RESULT", ...given, metadata: { status }, ...tag }]),
      ...(ui ? [{ type: "ACTIVITY_SNAPSHOT", ...hint, ...tag }] : []),
    ];
  }

  return {
    say,
    close: () => [...open.keys()].flatMap(end),
    /** What was said of these calls is void: they get a result, so that nobody runs them. */
    withdraw: (): readonly AgUiEvent[] =>
      [...open.keys()].flatMap((id) => {
        shown.delete(id);
        const content = "This call was taken back.";
        const result = { type: "TOOL_CALL_RESULT", toolCallId: id, messageId: `${id}-void`, content, ...tag };
        return [...end(id), result];
      }),
    hearDelta: ({ id, name, delta }: EventOf<"tool_call_delta">, messageId: string): readonly AgUiEvent[] =>
      clientTools.has(name) ? [] : [...begin(id, name, messageId), ...args(id, delta)],
    hear(event: Event, messageId: string): readonly AgUiEvent[] {
      if (event.type === "tool_call_start" && !shown.has(event.id))
        return say({ ...event, input: event.arguments }, messageId);
      if (event.type === "tool_progress") {
        const value = { toolCallId: event.id, data: event.data };
        return [{ type: "CUSTOM", name: "tool_progress", value, ...tag }];
      }
      if (event.type === "handoff")
        return [{ type: "CUSTOM", name: "handoff", value: { from: event.from, to: event.to }, ...tag }];
      return event.type === "tool_call_result" ? settle(event, messageId) : [];
    },
  };
}

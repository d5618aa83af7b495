// Splits the text of an answer into reasoning, text and calls while it arrives. The grammar guarantees the format; the
// reader holds back only what may still become a marker, and white space that may turn out to be the end.
import type { Chunk } from "capstan";
import type { ChatFormat } from "./chat-format.ts";
import { createDepthCounter, type DepthCounter } from "./depth-counter.ts";

export type AnswerReader = {
  /** Returns the chunks that are certain with this text. */
  push(text: string): readonly Chunk[];
  /** Returns what was held back. */
  end(): readonly Chunk[];
  readonly isThinking: boolean;
  /** A stop text was found: the rest of the answer does not count. */
  readonly isStopped: boolean;
  readonly callCount: number;
};

export type AnswerReaderOptions = {
  readonly format: ChatFormat;
  readonly hasTools: boolean;
  readonly startsInThought: boolean;
  readonly stops: readonly string[];
};

type State = "start" | "thought" | "text" | "name" | "arguments" | "suffix" | "between" | "stopped";

type Reading = {
  readonly format: ChatFormat;
  readonly stops: readonly string[];
  /** Texts that end the text: stops, and the start of a call. */
  readonly markers: readonly string[];
  readonly chunks: Chunk[];
  state: State;
  buffer: string;
  /** Nothing but white space was read of this reasoning or text: it does not count. */
  isBlank: boolean;
  callCount: number;
  depth: DepthCounter;
};

export function createAnswerReader(options: AnswerReaderOptions): AnswerReader {
  const { format, hasTools, stops } = options;
  const reading: Reading = {
    format,
    stops,
    markers: [...stops, ...(hasTools ? [format.call.trigger] : [])],
    chunks: [],
    state: options.startsInThought ? "thought" : "start",
    buffer: "",
    isBlank: true,
    callCount: 0,
    depth: createDepthCounter(),
  };
  return {
    push(text) {
      reading.buffer += text;
      for (let next: State | undefined = reading.state; next; ) {
        reading.state = next;
        next = steps[next](reading);
      }
      return reading.chunks.splice(0);
    },
    end() {
      const { state, buffer } = reading;
      if (state === "start" || state === "text") emit(reading, "text", buffer.trimEnd());
      if (state === "thought") emit(reading, "reasoning", buffer);
      reading.buffer = "";
      return reading.chunks.splice(0);
    },
    get isThinking() {
      return reading.state === "thought";
    },
    get isStopped() {
      return reading.state === "stopped";
    },
    get callCount() {
      return reading.callCount;
    },
  };
}

/** Each consumes text of the buffer and returns the next state; undefined when it needs more text. */
const steps: { readonly [Name in State]: (reading: Reading) => State | undefined } = {
  start(reading) {
    const text = reading.buffer.trimStart();
    const prefix = reading.format.thought?.prefix;
    if (prefix === undefined || !(prefix.startsWith(text) || text.startsWith(prefix))) return "text";
    if (text.length < prefix.length) return undefined;
    reading.buffer = text.slice(prefix.length);
    return "thought";
  },
  thought(reading) {
    skipBlank(reading);
    const suffix = reading.format.thought?.suffix ?? "";
    const index = reading.buffer.indexOf(suffix);
    if (index < 0) return emitCertain(reading, "reasoning", [suffix]);
    emit(reading, "reasoning", reading.buffer.slice(0, index).trimEnd());
    reading.buffer = reading.buffer.slice(index + suffix.length);
    reading.isBlank = true;
    return "text";
  },
  text(reading) {
    skipBlank(reading);
    const found = findFirst(reading.buffer, reading.markers);
    if (!found) return emitCertain(reading, "text", reading.markers);
    const isStop = reading.stops.includes(found.marker);
    const before = reading.buffer.slice(0, found.index);
    emit(reading, "text", isStop ? before : before.trimEnd());
    reading.buffer = reading.buffer.slice(found.index + found.marker.length);
    return isStop ? "stopped" : "name";
  },
  name(reading) {
    const { namePrefix, argumentsPrefix } = reading.format.call;
    const end = reading.buffer.indexOf(argumentsPrefix, namePrefix.length);
    if (end < 0) return undefined;
    const name = reading.buffer.slice(namePrefix.length, end);
    reading.chunks.push({ type: "call_start", index: reading.callCount, name });
    reading.buffer = reading.buffer.slice(end + argumentsPrefix.length);
    reading.depth = createDepthCounter();
    return "arguments";
  },
  arguments(reading) {
    const { buffer, callCount: index } = reading;
    const end = reading.depth.findEnd(buffer);
    if (buffer !== "") reading.chunks.push({ type: "call_delta", index, text: buffer.slice(0, end) });
    reading.buffer = buffer.slice(end ?? buffer.length);
    if (end === undefined) return undefined;
    reading.callCount++;
    return "suffix";
  },
  suffix(reading) {
    const { length } = reading.format.call.suffix;
    if (reading.buffer.length < length) return undefined;
    reading.buffer = reading.buffer.slice(length);
    return "between";
  },
  between(reading) {
    const { trigger } = reading.format.call;
    const index = reading.buffer.indexOf(trigger);
    if (index < 0) return undefined;
    reading.buffer = reading.buffer.slice(index + trigger.length);
    return "name";
  },
  stopped: () => undefined,
};

function skipBlank(reading: Reading): void {
  if (reading.isBlank) reading.buffer = reading.buffer.trimStart();
  reading.isBlank &&= reading.buffer === "";
}

function emit({ chunks }: Reading, type: "text" | "reasoning", text: string): void {
  if (text !== "") chunks.push({ type, text });
}

/** Emits all but what may be the start of a marker. */
function emitCertain(reading: Reading, type: "text" | "reasoning", markers: readonly string[]): undefined {
  const end = reading.buffer.length - countHeldBack(reading.buffer, markers);
  emit(reading, type, reading.buffer.slice(0, end));
  reading.buffer = reading.buffer.slice(end);
}

function findFirst(
  text: string,
  markers: readonly string[],
): { readonly index: number; readonly marker: string } | undefined {
  const found = markers.map((marker) => ({ index: text.indexOf(marker), marker }));
  return found.filter(({ index }) => index >= 0).toSorted((left, right) => left.index - right.index)[0];
}

/** Counts the characters at the end that may be the start of a marker, and the white space before it. */
function countHeldBack(text: string, markers: readonly string[]): number {
  let longest = 0;
  for (const marker of markers)
    for (let length = Math.min(marker.length - 1, text.length); length > longest; length--)
      if (marker.startsWith(text.slice(-length))) longest = length;
  return text.length - text.slice(0, text.length - longest).trimEnd().length;
}

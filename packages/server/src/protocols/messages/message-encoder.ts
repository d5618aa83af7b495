import type { AssistantEntry, Event, Result, Usage } from "capstan";
import { getText } from "capstan";
import { restartsMessage } from "capstan/client";
import { createClientCallId } from "../call-ids.ts";
import { getMissingText } from "../chat/chat-events.ts";
import { isCut } from "../is-cut.ts";
import { findCallUsage, sumUsage } from "../sum-usage.ts";
import {
  buildMessageObject,
  type ContentBlock,
  type MessageEvent,
  type MessageInfo,
  type MessageObject,
  type StopReason,
  toMessageUsage,
} from "./message-object.ts";

/*
 * Answers of `POST /v1/messages`. One run is one message, however many turns it has: each turn adds a block of thinking
 * and a block of text. Calls of the agent's own tools are hidden, because a client would try to run them. The client's
 * calls are the last blocks. A block cannot be taken back, so the text of a restarted turn stays in a stream, and the new
 * text is the next block; a message that is not streamed has only the new text.
 */

export const messagesMapping = {
  run_start: "`message_start`, `ping`",
  content_delta: "`content_block_start` (`text`) before the first, `content_block_delta` (`text_delta`)",
  reasoning_delta:
    "if the request asks for `thinking`: `content_block_start` (`thinking`) before the first, `thinking_delta`",
  message: "the remaining text; `signature_delta` after thinking, `content_block_stop`",
  message_restart: "`content_block_stop`; the new text is another block",
  waiting: "a `tool_use` block for each call of the client's tools, then as `done` (`tool_use`)",
  done: "`message_delta` (`end_turn`, `max_tokens` or `refusal`) with the usage of all models, `message_stop`; or `error`",
};

export type MessageEncoderOptions = MessageInfo & {
  /** The answer must match an output schema, so only the complete answer is sent. */
  readonly isFormed: boolean;
  readonly showsThinking: boolean;
};

/** Encodes one segment of a run. */
export interface MessageEncoder {
  /** Returns the events before the first event of the run. */
  start(): readonly MessageEvent[];
  encode(event: Event): readonly MessageEvent[];
  /** Returns the last events; undefined if the run failed. `declared` are the client's tools. */
  finish(result: Result, declared: ReadonlySet<string>): readonly MessageEvent[] | undefined;
  /** Returns the whole message; call it after `finish`. */
  getMessage(): MessageObject;
}

/** Thinking of a client is never sent to a model, so it needs no signature. */
const signature = "unsigned";

export function createMessageEncoder(options: MessageEncoderOptions): MessageEncoder {
  const { isFormed, showsThinking } = options;
  const content: ContentBlock[] = [];
  const used: Usage[] = [];
  const writer = createBlockWriter();
  /** Streamed text of the current turn. */
  let streamed = "";
  let lastText = "";
  let stopReason: StopReason | null = null;

  const getUsage = () => toMessageUsage(used.reduce(sumUsage, { inputTokens: 0, outputTokens: 0 }));

  function appendText(text: string): readonly MessageEvent[] {
    if (text === "") return [];
    streamed += text;
    return writer.append("text", { type: "text_delta", text });
  }

  function addEntry(entry: AssistantEntry): readonly MessageEvent[] {
    const text = isFormed ? "" : getText(entry);
    const rest = appendText(text.startsWith(streamed) ? text.slice(streamed.length) : "");
    const reasoning = entry.parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
    if (showsThinking && reasoning) content.push({ type: "thinking", thinking: reasoning, signature });
    if (text) content.push(createTextBlock(text));
    if (text) lastText = text;
    streamed = "";
    return [...rest, ...writer.close()];
  }

  return {
    start: () => [
      {
        type: "message_start",
        message: buildMessageObject(options, { content: [], stopReason, usage: getUsage() }),
      },
      { type: "ping" },
    ],
    encode(event) {
      const usage = findCallUsage(event);
      if (usage) used.push(usage);
      if (event.parentRunId !== undefined) return [];
      if (event.type === "content_delta") return isFormed ? [] : appendText(event.delta);
      if (event.type === "reasoning_delta")
        return showsThinking
          ? writer.append("thinking", { type: "thinking_delta", thinking: event.delta })
          : [];
      if (event.type === "message") return addEntry(event.entry);
      if (!restartsMessage(event)) return [];
      streamed = "";
      return writer.close();
    },
    finish(result, declared) {
      const ending = computeEnding(result, lastText, declared);
      if (!ending) return undefined;
      content.push(...ending.blocks);
      stopReason = ending.stopReason;
      const delta = { container: null, stop_details: null, stop_reason: stopReason, stop_sequence: null };
      return [
        ...writer.close(),
        ...ending.blocks.flatMap(writer.write),
        { type: "message_delta", delta, usage: getUsage() },
        { type: "message_stop" },
      ];
    },
    getMessage: () => buildMessageObject(options, { content, stopReason, usage: getUsage() }),
  };
}

type MessageEnding = { readonly stopReason: StopReason; readonly blocks: readonly ContentBlock[] };

function computeEnding(
  { status, text, pending, runId, error }: Result,
  lastText: string,
  declared: ReadonlySet<string>,
): MessageEnding | undefined {
  const isRefused = error?.code === "content_filter";
  if (status === "cancelled" || (status === "failed" && !isRefused)) return undefined;
  const calls = pending
    .filter((call) => call.runId === undefined && call.needs === "answer" && declared.has(call.name))
    .map(
      ({ callId, name, input }): ContentBlock => ({
        type: "tool_use",
        id: createClientCallId({ runId, callId }),
        name,
        input,
        caller: { type: "direct" },
      }),
    );
  if (calls.length > 0) return { stopReason: "tool_use", blocks: calls };
  const missing = getMissingText(lastText, text).trimStart();
  return {
    stopReason: isRefused ? "refusal" : isCut(error?.code) ? "max_tokens" : "end_turn",
    blocks: missing === "" ? [] : [createTextBlock(missing)],
  };
}

function createTextBlock(text: string): ContentBlock {
  return { type: "text", text, citations: null };
}

type BlockDelta = Extract<MessageEvent, { readonly type: "content_block_delta" }>["delta"];

/** Numbers the blocks of a stream. At most one is open. */
function createBlockWriter() {
  let index = -1;
  let open: ContentBlock["type"] | undefined;

  function start(block: ContentBlock): readonly MessageEvent[] {
    const closed = close();
    index++;
    open = block.type;
    return [...closed, { type: "content_block_start", index, content_block: block }];
  }
  const toDeltaEvent = (delta: BlockDelta): MessageEvent => ({ type: "content_block_delta", index, delta });

  function close(): readonly MessageEvent[] {
    if (open === undefined) return [];
    const isThinking = open === "thinking";
    open = undefined;
    return [
      ...(isThinking ? [toDeltaEvent({ type: "signature_delta", signature })] : []),
      { type: "content_block_stop", index },
    ];
  }

  return {
    close,
    /** Adds to the open block, or starts one. */
    append(type: "text" | "thinking", delta: BlockDelta): readonly MessageEvent[] {
      const empty: ContentBlock =
        type === "text" ? createTextBlock("") : { type: "thinking", thinking: "", signature: "" };
      return [...(open === type ? [] : start(empty)), toDeltaEvent(delta)];
    },
    /** Writes a whole block. */
    write(block: ContentBlock): readonly MessageEvent[] {
      if (block.type === "text")
        return [
          ...start(createTextBlock("")),
          toDeltaEvent({ type: "text_delta", text: block.text }),
          ...close(),
        ];
      if (block.type === "thinking") return [];
      const delta = { type: "input_json_delta" as const, partial_json: JSON.stringify(block.input) };
      return [...start({ ...block, input: {} }), toDeltaEvent(delta), ...close()];
    },
  };
}

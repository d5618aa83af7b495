import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import type { Event, Result } from "capstan";
import { describe, expect, it } from "vitest";
import { createTaskProjection } from "./a2a/task.ts";
import { createAgUiStream } from "./ag-ui/ag-ui-stream.ts";
import { createUiMessageStream } from "./ai-sdk/ui-message-stream.ts";
import { chatEvents } from "./chat/chat-events.ts";
import { computeEnding, createCompletionCollector } from "./chat-completions/completion.ts";
import { createMessageEncoder } from "./messages/message-encoder.ts";
import { createResponseEncoder } from "./responses/response-encoder.ts";

const origin = { runId: "r", sessionId: "s", agent: "helper", turn: 1 };
const usage = { inputTokens: 1, outputTokens: 1 };
const entry = { type: "assistant", parts: [{ type: "text", text: "It rains." }] };
const error = { code: "stream_truncated", message: "Cut off.", retryable: true };

let seq = 0;
const fact = (body: object) => ({ ...origin, seq: ++seq, at: seq, id: `${seq}`, ...body }) as Event;
const delta = (body: object) => ({ ...origin, ...body }) as Event;

const start = { type: "turn_start", turn: 1, maxTurns: 10, messageCount: 1, notes: [] };
const restart = delta({ type: "message_restart", reason: "stream_truncated" });
const failure = fact({ type: "model_failed", model: "one", candidate: 0, attempts: 1, error });

/** Two attempts at one message, with `between` them. */
const playRun = (...between: readonly Event[]): readonly Event[] => [
  fact(start),
  delta({ type: "content_delta", delta: "Snow fa" }),
  ...between,
  delta({ type: "content_delta", delta: "It ra" }),
  fact({ type: "message", entry, model: "two", usage, finish: "stop" }),
  fact({ type: "turn_end", turn: 1, usage }),
  fact({ type: "done", status: "done", text: "It rains.", usage, cost: 0 }),
];

/** Deltas are not stored: a reader that is behind sees only the facts around them. */
const restarts: readonly (readonly [string, readonly Event[]])[] = [
  ["a retry", [restart]],
  ["a fallback", [restart, failure, fact(start)]],
  ["a fallback whose restart was missed", [failure, fact(start)]],
  ["a crash", [fact({ type: "recovered", owner: "other" }), fact(start)]],
];

describe.each(restarts)("after %s, readers replace the text", (_, between) => {
  const events = playRun(...between);

  it("in the UI message stream", async () => {
    const stream = createUiMessageStream({ runId: "r", sessionId: "s" });
    const chunks = [...stream.begin(), ...events.flatMap(stream.encode), ...stream.end()];
    const message = await readUiMessage(chunks as UIMessageChunk[]);
    expect(message.parts.map((part) => ("text" in part ? part.text : "")).join("")).toBe("It rains.");
  });

  it("in AG-UI, where the discarded message is named and the new one has another id", () => {
    const stream = createAgUiStream({ threadId: "t", runId: "r" });
    const wire = [...stream.begin(), ...events.flatMap(stream.encode), ...stream.end([])];
    const discarded = wire.flatMap(({ type, name, value }) =>
      type === "CUSTOM" && name === "message_restart" ? [(value as { messageId: string }).messageId] : [],
    );
    const texts = new Map<unknown, string>();
    for (const { type, messageId, delta: text } of wire)
      if (type === "TEXT_MESSAGE_CONTENT") texts.set(messageId, (texts.get(messageId) ?? "") + text);
    expect([...texts.values()]).toEqual(["Snow fa", "It rains."]);
    expect(discarded).toEqual([[...texts.keys()][0]]);
  });

  it("in a response", () => {
    const encoder = createResponseEncoder({
      ...{ id: "resp_1", model: "helper", place: { runId: "r", segment: 1 } },
      ...{ functions: new Set<string>(), isFormed: false, showError: (shown) => shown },
    });
    for (const event of events) encoder.encode(event);
    expect(encoder.getResponse().output).toMatchObject([{ content: [{ text: "It rains." }] }]);
  });

  it("in an A2A task", () => {
    const projection = createTaskProjection({ taskId: "r", contextId: "s" }, (shown) => shown);
    let text = "";
    for (const frame of events.flatMap((event) => projection.apply(event))) {
      if (!("artifactUpdate" in frame)) continue;
      const { append, artifact } = frame.artifactUpdate;
      text = (append ? text : "") + artifact.parts.map((part) => ("text" in part ? part.text : "")).join("");
    }
    expect(text).toBe("It rains.");
  });

  it("in a message of Anthropic's API, where a stream keeps the discarded text as a block", () => {
    const encoder = createMessageEncoder({
      ...{ id: "msg_1", model: "helper", isFormed: false, showsThinking: false },
    });
    const texts: string[] = [];
    for (const event of events.flatMap(encoder.encode))
      if (event.type === "content_block_delta" && event.delta.type === "text_delta")
        texts[event.index] = (texts[event.index] ?? "") + event.delta.text;
    expect(texts).toEqual(["Snow fa", "It rains."]);
    expect(encoder.getMessage().content).toMatchObject([{ text: "It rains." }]);
  });

  it("or, where sent text cannot be taken back, see the new text as a paragraph of its own", () => {
    const sent = events.flatMap(chatEvents()).map(({ data }) => ("delta" in data ? data.delta : ""));
    expect(sent.join("")).toBe("Snow fa\n\nIt rains.");
    const collector = createCompletionCollector();
    const chunks = events.map((event) => collector.add(event)?.content ?? "");
    expect(chunks.join("")).toBe("Snow fa\n\nIt rains.");
    expect(collector.getText()).toBe("It rains.");
  });
});

describe("an outage of the model provider", () => {
  const outage = [
    fact(start),
    delta({ type: "retry", attempt: 1, code: "model_overloaded", waitMs: 500 }),
    failure,
    fact({ type: "waiting", callIds: [], until: 9000 }),
    fact({ type: "woken" }),
    fact(start),
    fact({ type: "message", entry, model: "two", usage, stopReason: "end" }),
    fact({ type: "turn_end", turn: 1, usage }),
    fact({ type: "done", status: "done", text: "It rains.", usage, cost: 0 }),
  ];

  it("is shown by the UI message stream while it lasts, and leaves no trace in the message", async () => {
    const stream = createUiMessageStream({ runId: "r", sessionId: "s" });
    const chunks = [...stream.begin(), ...outage.flatMap(stream.encode), ...stream.end()];
    expect(chunks.filter(({ transient }) => transient)).toMatchObject([
      { type: "data-retry", data: { attempt: 1, code: "model_overloaded", waitMs: 500 } },
      { type: "data-waiting", data: { until: 9000 } },
    ]);
    expect(chunks.at(-1)).toMatchObject({ type: "finish", finishReason: "stop" });
    const { parts } = await readUiMessage(chunks as UIMessageChunk[]);
    expect(parts.filter(({ type }) => type !== "step-start")).toMatchObject([{ text: "It rains." }]);
  });

  it("is shown by AG-UI, and the run goes on", () => {
    const stream = createAgUiStream({ threadId: "t", runId: "r" });
    const wire = [...stream.begin(), ...outage.flatMap(stream.encode), ...stream.end([])];
    expect(wire.filter(({ type }) => type === "CUSTOM")).toMatchObject([
      { name: "retry", value: { attempt: 1, code: "model_overloaded", waitMs: 500 } },
      { name: "waiting", value: { until: 9000 } },
    ]);
    expect(wire.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
    expect(wire.filter(({ type }) => type === "RUN_FINISHED")).toHaveLength(1);
  });

  it("does not end a response, a simple chat or an A2A task", () => {
    const encoder = createResponseEncoder({
      ...{ id: "resp_1", model: "helper", place: { runId: "r", segment: 1 }, sessionId: "s" },
      ...{ functions: new Set<string>(), isFormed: false, showError: (shown) => shown },
    });
    for (const event of outage) encoder.encode(event);
    expect(encoder.getResponse()).toMatchObject({
      ...{ status: "completed", output: [{ content: [{ text: "It rains." }] }] },
    });
    expect(outage.flatMap(chatEvents())).toEqual([
      { event: "content_delta", data: { delta: "It rains." } },
      { event: "done", data: {} },
    ]);
    const task = createTaskProjection({ taskId: "r", contextId: "s" }, (shown) => shown);
    const states = outage.map((event) => {
      task.apply(event);
      return task.getState();
    });
    expect(states.slice(0, -1)).not.toContain("TASK_STATE_INPUT_REQUIRED");
    expect(states.at(-1)).toBe("TASK_STATE_COMPLETED");
  });
});

it("a response that failed is in progress again after a retry, and ends once more", () => {
  const encoder = createResponseEncoder({
    ...{ id: "resp_1", model: "helper", place: { runId: "r", segment: 1 }, sessionId: "s" },
    ...{ functions: new Set<string>(), isFormed: false, showError: (shown) => shown },
  });
  const end = { type: "done", status: "failed", text: "Cut off.", usage, cost: 0, error, canRetry: true };
  for (const event of [fact(start), failure, fact(end)]) encoder.encode(event);
  expect(encoder.getResponse().status).toBe("failed");
  encoder.encode(fact({ type: "retried", usageBefore: usage }));
  expect(encoder.isOver()).toBe(false);
  encoder.encode(fact({ type: "message", entry, model: "two", usage, stopReason: "end" }));
  encoder.encode(fact({ type: "done", status: "done", text: "It rains.", usage, cost: 0 }));
  expect(encoder.getResponse()).toMatchObject({
    ...{ status: "completed", error: null, output: [{ content: [{ text: "It rains." }] }] },
    usage: { input_tokens: 1 },
  });
});

it("an answer that is only a part is not a plain stop", () => {
  const collector = createCompletionCollector();
  const limit = { status: "limit", text: "It ra", pending: [], runId: "r" };
  const finish = (code: string) =>
    computeEnding({ ...limit, error: { code } } as unknown as Result, collector, new Set())?.finish;
  expect(["output_truncated", "answer_incomplete", "budget_tokens", "max_turns"].map(finish)).toEqual([
    ...["length", "length", "length", "stop"],
  ]);
});

async function readUiMessage(chunks: readonly UIMessageChunk[]): Promise<UIMessage> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message;
  return last as UIMessage;
}

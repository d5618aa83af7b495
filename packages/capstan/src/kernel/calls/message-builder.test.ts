import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantPart } from "../history.ts";
import type { Chunk } from "../model.ts";
import { addChunk, buildParts, createMessageBuilder } from "./message-builder.ts";

/** Builds the parts of these chunks; a call without an id is named after its index. */
function buildPartsFrom(chunks: readonly Chunk[]): AssistantPart[] {
  const taken = new Set<string>();
  const message = createMessageBuilder((providerId, index) => {
    let id = providerId || `call_${index}`;
    while (taken.has(id)) id += "~";
    taken.add(id);
    return id;
  });
  for (const chunk of chunks) addChunk(message, chunk);
  return buildParts(message);
}

/** The content of a message, one item after the other. */
type MessageItem =
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | {
      readonly type: "call";
      readonly id: string | undefined;
      readonly name: string;
      readonly written: string;
    }
  | { readonly type: "opaque"; readonly data: number };

const messageItem: fc.Arbitrary<MessageItem> = fc.oneof(
  fc.record({
    type: fc.constantFrom("text" as const, "reasoning" as const),
    text: fc.string({ minLength: 1, unit: "binary" }),
  }),
  fc.record({
    type: fc.constant("call" as const),
    id: fc.option(fc.uuid(), { nil: undefined }),
    name: fc.constantFrom("search", "__proto__", ""),
    written: fc.oneof(
      fc.dictionary(fc.string(), fc.string()).map((value) => JSON.stringify(value)),
      fc.string(),
    ),
  }),
  fc.record({ type: fc.constant("opaque" as const), data: fc.integer() }),
);

/** The chunks of a message without any splits. Indexes may have gaps. */
function buildChunks(items: readonly MessageItem[], indexOf: (place: number) => number): Chunk[] {
  return items.flatMap((item, place): Chunk[] => {
    if (item.type !== "call") return [item];
    const index = indexOf(place);
    const { id, name, written } = item;
    return [
      { type: "call_start", index, name, ...(id !== undefined && { id }) },
      { type: "call_delta", index, text: written },
    ];
  });
}

/** Splits each text and delays argument chunks at random, drawn from `choice` (0 to below n). */
function splitAndInterleave(chunks: readonly Chunk[], choice: (n: number) => number): Chunk[] {
  const sent: Chunk[] = [];
  const late = new Map<number, Chunk[]>();
  const sendSome = () => {
    for (const queue of late.values()) sent.push(...queue.splice(0, choice(queue.length + 1)));
  };
  for (const chunk of chunks) {
    const pieces = splitChunk(chunk, choice);
    if (chunk.type === "call_delta") late.set(chunk.index, pieces);
    else
      for (const piece of pieces) {
        sent.push(piece);
        // Also before a new text starts: argument chunks never split a text.
        sendSome();
      }
  }
  while ([...late.values()].some((queue) => queue.length > 0)) sendSome();
  return sent;
}

function splitChunk(chunk: Chunk, choice: (n: number) => number): Chunk[] {
  if (!("text" in chunk)) return [chunk];
  const pieces: Chunk[] = [];
  let rest = chunk.text;
  do {
    const length = 1 + choice(rest.length);
    pieces.push({ ...chunk, text: rest.slice(0, length) });
    rest = rest.slice(length);
  } while (rest);
  return pieces;
}

describe("any split and interleaving of a message", () => {
  it("gives the same parts in the same order (F29)", () => {
    fc.assert(
      fc.property(
        fc.array(messageItem),
        fc.boolean(),
        fc.infiniteStream(fc.nat()),
        (said, jumping, chances) => {
          // Some providers count calls from 0, some send any number.
          const whole = buildChunks(said, (place) => (jumping ? 1000 - 7 * place : place));
          const choice = (n: number) => (n <= 1 ? 0 : (chances.next().value as number) % n);
          expect(buildPartsFrom(splitAndInterleave(whole, choice))).toEqual(buildPartsFrom(whole));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("assigns parallel calls their own arguments, chunk by chunk (F29, S2-43)", () => {
    const chunks: Chunk[] = [
      { type: "call_start", index: 3, id: "a", name: "first" },
      { type: "call_start", index: 0, id: "b", name: "second" },
      { type: "call_delta", index: 0, text: '{"x"' },
      { type: "call_delta", index: 3, text: '{"x":' },
      { type: "call_delta", index: 0, text: ":2}" },
      { type: "call_delta", index: 3, text: "1}" },
    ];
    expect(buildPartsFrom(chunks)).toEqual([
      { type: "call", id: "a", name: "first", input: { x: 1 } },
      { type: "call", id: "b", name: "second", input: { x: 2 } },
    ]);
  });

  it("keeps text, reasoning, calls and unknown parts in the order of the model", () => {
    const chunks: Chunk[] = [
      { type: "reasoning", text: "Hm" },
      { type: "text", text: "Let me " },
      { type: "text", text: "see." },
      { type: "call_start", index: 0, id: "a", name: "look" },
      { type: "opaque", data: { citation: 1 } },
      { type: "call_delta", index: 0, text: "{}" },
      { type: "text", text: "And wait." },
    ];
    expect(buildPartsFrom(chunks)).toEqual([
      { type: "reasoning", text: "Hm" },
      { type: "text", text: "Let me see." },
      { type: "call", id: "a", name: "look", input: {} },
      { type: "opaque", data: { citation: 1 } },
      { type: "text", text: "And wait." },
    ]);
  });

  it("keeps opaque data with its reasoning block and starts a new block after it", () => {
    const chunks: Chunk[] = [
      { type: "reasoning", text: "one" },
      { type: "reasoning", text: "", opaque: "signature 1" },
      { type: "reasoning", text: "two" },
      { type: "reasoning", text: "", opaque: "signature 2" },
      { type: "reasoning", text: "", opaque: "redacted" },
    ];
    expect(buildPartsFrom(chunks)).toEqual([
      { type: "reasoning", text: "one", opaque: "signature 1" },
      { type: "reasoning", text: "two", opaque: "signature 2" },
      { type: "reasoning", text: "", opaque: "redacted" },
    ]);
  });
});

describe("a call", () => {
  it("may repeat its head with every chunk, or send its id and name late (F29, S1-07)", () => {
    const chunks: Chunk[] = [
      { type: "call_start", index: 0, name: "" },
      { type: "call_delta", index: 0, text: '{"a"' },
      { type: "call_start", index: 0, id: "x", name: "look" },
      { type: "call_delta", index: 0, text: ":1}" },
      { type: "call_start", index: 0, id: "y", name: "other" },
    ];
    expect(buildPartsFrom(chunks)).toEqual([
      { type: "call", id: "call_0", providerId: "x", name: "look", input: { a: 1 } },
    ]);
  });

  it("without a head has no name, and so matches no tool (F30)", () => {
    expect(buildPartsFrom([{ type: "call_delta", index: 4, text: "{}" }])).toEqual([
      { type: "call", id: "call_4", name: "", input: {} },
    ]);
  });

  it("with arguments that are not an object keeps their text (S1-28, F32)", () => {
    const chunks: Chunk[] = [
      { type: "call_start", index: 0, id: "a", name: "look" },
      { type: "call_delta", index: 0, text: "[1" },
    ];
    expect(buildPartsFrom(chunks)).toEqual([{ type: "call", id: "a", name: "look", input: {}, raw: "[1" }]);
  });

  it("without any arguments has the input {} (S1-29, F31)", () => {
    expect(buildPartsFrom([{ type: "call_start", index: 0, id: "a", name: "look" }])).toEqual([
      { type: "call", id: "a", name: "look", input: {} },
    ]);
  });

  it("repeated with the same id and arguments is one call (F28)", () => {
    const twice = [0, 1].flatMap((index): Chunk[] => [
      { type: "call_start", index, id: "a", name: "look" },
      { type: "call_delta", index, text: '{"x":1}' },
    ]);
    expect(buildPartsFrom(twice)).toEqual([{ type: "call", id: "a", name: "look", input: { x: 1 } }]);
  });

  it("with the id of another call but different arguments is a separate call that keeps the provider's id (F28)", () => {
    const chunks = [0, 1].flatMap((index): Chunk[] => [
      { type: "call_start", index, id: "a", name: "look" },
      { type: "call_delta", index, text: `{"x":${index}}` },
    ]);
    expect(buildPartsFrom(chunks)).toEqual([
      { type: "call", id: "a", name: "look", input: { x: 0 } },
      { type: "call", id: "a~", providerId: "a", name: "look", input: { x: 1 } },
    ]);
  });

  it("repeated without an id is two calls, because the model may mean both (F27)", () => {
    const chunks = [0, 1].map((index): Chunk => ({ type: "call_start", index, name: "roll" }));
    expect(buildPartsFrom(chunks)).toMatchObject([{ id: "call_0" }, { id: "call_1" }]);
  });
});

describe("beside its parts, a message", () => {
  it("has the last usage, its stop reason and its size", () => {
    const message = createMessageBuilder(() => "a");
    const chunks: Chunk[] = [
      { type: "usage", usage: { inputTokens: 5, outputTokens: 0 } },
      { type: "text", text: " " },
      { type: "reasoning", text: "hm" },
      { type: "call_delta", index: 0, text: "{}" },
      { type: "usage", usage: { inputTokens: 5, outputTokens: 9 } },
      { type: "finish", reason: "tool_calls" },
    ];
    for (const chunk of chunks) addChunk(message, chunk);
    expect(message).toMatchObject({
      usage: { inputTokens: 5, outputTokens: 9 },
      stopReason: "tool_calls",
      size: 5,
      hasText: false,
    });
  });
});

import { existsSync, readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Chunk } from "../kernel/model.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { createEventShapes } from "./event-shapes.ts";
import { geminiContent } from "./gemini-content.ts";
import { createChatWire, openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";
import { renameWire } from "./rename-wire.ts";
import { createSseReader } from "./stream-reader.ts";
import type { Wire } from "./wire.ts";

const toEvent = (json: string, name?: string) => `${name ? `event: ${name}\n` : ""}data: ${json}\n\n`;

describe("event shapes", () => {
  const paths = ["id", "n", "delta.text", "list.*.text", "padding"];

  it("read a repeated event without parsing it", () => {
    const shapes = createEventShapes(paths);
    const event = (id: string, n: number, text: string) =>
      toEvent(JSON.stringify({ type: "delta", id, n, delta: { text }, last: null }), "delta");
    expect(shapes.read(event("a", 1, "One"), 0)).toBeUndefined();
    shapes.learn(event("a", 1, "One"));
    const text = `${event("a", 2, "Two")}${event("a", 3, 'a "\\ \n é 😀')}${event("bc", 40, "")}`;
    const values: unknown[] = [];
    for (let at = 0; at < text.length; ) {
      const read = shapes.read(text, at);
      expect(read?.event).toBe("delta");
      values.push(structuredClone(read?.value));
      at = read?.end ?? text.length;
    }
    expect(values).toEqual([
      { type: "delta", id: "a", n: 2, delta: { text: "Two" }, last: null },
      { type: "delta", id: "a", n: 3, delta: { text: 'a "\\ \n é 😀' }, last: null },
      { type: "delta", id: "bc", n: 40, delta: { text: "" }, last: null },
    ]);
  });

  it("read events that are padded with spaces to hide their length", () => {
    const shapes = createEventShapes(paths);
    const event = (text: string, padding: number) =>
      toEvent(`{"delta":{"text":"${text}"}${" ".repeat(padding)}}`);
    shapes.learn(event("a", 3));
    for (const [text, padding] of [
      ["b", 0],
      ["b", 7],
      ["c", 1],
      ["d", 12],
    ] as const) {
      const read = shapes.read(event(text, padding), 0);
      expect(read?.value).toEqual({ delta: { text } });
      expect(read?.end).toBe(event(text, padding).length);
    }
  });

  it("keep streams apart whose events alternate", () => {
    const shapes = createEventShapes(paths);
    const event = (id: string, text: string) => toEvent(JSON.stringify({ id, delta: { text } }));
    shapes.learn(event("a", "1"));
    const streams = "aabbaccaba";
    for (const id of streams + streams.replaceAll(/./g, (letter) => letter.repeat(20)) + streams)
      for (const text of ["x", "y"])
        expect(shapes.read(event(id, text), 0)?.value).toEqual({ id, delta: { text } });
  });

  it.each([
    ["a control character", '{"id":"a","delta":{"text":"a\u0001b"}}'],
    ["an invalid escape sequence", '{"id":"a","delta":{"text":"a\\xb"}}'],
    ["an unterminated text", '{"id":"a","delta":{"text":"a\\"}}'],
    ["another field", '{"id":"a","delta":{"text":"a"},"error":{}}'],
    ["a missing field", '{"delta":{"text":"a"}}'],
    ["null for a text", '{"id":"a","delta":{"text":null}}'],
    ["a leading zero", '{"id":"a","delta":{"text":"a"},"n":01}', '{"id":"a","delta":{"text":"a"},"n":1}'],
    ["a fraction", '{"id":"a","delta":{"text":"a"},"n":1.5}', '{"id":"a","delta":{"text":"a"},"n":1}'],
    ["too many digits", `{"delta":{"text":"a"},"n":${"9".repeat(16)}}`, '{"delta":{"text":"a"},"n":1}'],
  ])("leave an event with %s to the parser", (_what, json, learned = '{"id":"a","delta":{"text":"a"}}') => {
    const shapes = createEventShapes(paths);
    shapes.learn(toEvent(learned));
    for (const count of [1, 20]) {
      for (let n = 0; n < count; n++) expect(shapes.read(toEvent(learned), 0)).toBeDefined();
      expect(shapes.read(toEvent(json), 0)).toBeUndefined();
      // A failed attempt leaves nothing behind.
      expect(shapes.read(toEvent(learned), 0)?.value).toEqual(JSON.parse(learned));
    }
  });

  it.each([
    ["a repeated name", '{"delta":{"text":"a","text":"b"}}'],
    ["__proto__", '{"__proto__":{"text":"a"},"delta":{"text":"b"}}'],
    ["an object of constants, which a reader might keep", '{"delta":{"text":"a"},"extra":{"a":1}}'],
    ["no text that changes", '{"n":1}'],
    ["a list at its root", '[{"delta":{"text":"a"}}]'],
    ["more than one line of data", '{"delta":\ndata: {"text":"a"}}'],
    ["more than 4,000 characters", JSON.stringify({ delta: { text: "a".repeat(4000) } })],
    ["invalid JSON", '{"delta":{"text":"a"}'],
  ])("are not learned from an event with %s", (_what, json) => {
    const shapes = createEventShapes(paths);
    shapes.learn(toEvent(json));
    expect(shapes.read(toEvent(json), 0)).toBeUndefined();
  });

  it("are not learned from an error", () => {
    const shapes = createEventShapes(paths);
    shapes.learn(toEvent('{"delta":{"text":"a"}}', "error"));
    expect(shapes.read(toEvent('{"delta":{"text":"a"}}', "error"), 0)).toBeUndefined();
  });

  it("give what JSON.parse gives, for any JSON", () => {
    const text = fc.oneof(fc.constantFrom("a", "b", ""), fc.string({ unit: "binary", maxLength: 6 }));
    const number = fc.oneof(fc.nat(20), fc.double(), fc.maxSafeInteger());
    const leaf = fc.oneof(text, number, fc.boolean(), fc.constant(null));
    const object = fc.record(
      {
        id: leaf,
        n: leaf,
        delta: fc.oneof(
          leaf,
          fc.record({ text: leaf, kind: fc.constantFrom("x", "y") }, { requiredKeys: [] }),
        ),
        list: fc.array(fc.oneof(leaf, fc.record({ text: leaf })), { maxLength: 2 }),
        padding: text,
        other: fc.oneof(leaf, fc.jsonValue({ maxDepth: 2 })),
      },
      { requiredKeys: [] },
    );
    const json = fc
      .tuple(object, fc.constantFrom("plain", "spaced", "escaped"))
      .map(([value, form]) => formatJson(value, form));
    let read = 0;
    fc.assert(
      fc.property(fc.array(json, { minLength: 1, maxLength: 5 }), (events) => {
        const shapes = createEventShapes(paths);
        const repeated = events.flatMap((event) => Array.from({ length: 12 }, () => event));
        for (const event of [...events, ...events, ...repeated, ...events.toReversed(), ...repeated]) {
          const found = shapes.read(toEvent(event), 0);
          if (found) {
            read += 1;
            expect(found.value).toEqual(JSON.parse(event));
            expect(found.end).toBe(toEvent(event).length);
          } else shapes.learn(toEvent(event));
        }
      }),
      { numRuns: 400 },
    );
    expect(read).toBeGreaterThan(200);
  });
});

function formatJson(value: unknown, form: string): string {
  if (form === "spaced") return JSON.stringify(value, null, 1).replaceAll("\n", "");
  const text = JSON.stringify(value);
  if (form === "plain") return text;
  return text.replaceAll(/[a-z](?=[^"]*"[,}\]])/g, (letter) =>
    letter === "b" ? `\\u00${letter.charCodeAt(0).toString(16)}` : letter,
  );
}

type Recording = { readonly name: string; readonly family: string; readonly body: string };

const recordings = new URL("../../../../../shared/wire/", import.meta.url);
const isAbsent = !existsSync(new URL("expected-from-vendor-sdks.json", recordings));
const readText = (file: string): string => readFileSync(new URL(file, recordings), "utf8");

const wires: Readonly<Record<string, Wire>> = {
  "openai-chat": openAiChat,
  "openai-compat": createChatWire({}),
  "openai-responses": openAiResponses,
  renamed: renameWire(openAiResponses, "renamed"),
  anthropic: anthropicMessages,
  gemini: geminiContent,
};

function listRecordings(): Recording[] {
  const listed = JSON.parse(readText("expected-from-vendor-sdks.json")) as {
    readonly file: string;
    readonly interaction: number;
    readonly family: string;
  }[];
  const recorded = listed.map(({ file, interaction, family }) => {
    const { interactions } = JSON.parse(readText(file));
    return { name: `${file} ${interaction}`, family, body: String(interactions[interaction].response.body) };
  });
  const folder = "vercel-ai/google/";
  const gemini = readdirSync(new URL(folder, recordings))
    .filter((name) => name.endsWith(".chunks.txt"))
    .map((name) => {
      const lines = readText(folder + name).split("\n");
      // Gemini separates its events like this.
      const body = lines.flatMap((line) => (line === "" ? [] : `data: ${line}\r\n\r\n`)).join("");
      return { name, family: "gemini", body };
    });
  const renamed = recorded.filter(({ family }) => family === "openai-responses").slice(0, 20);
  return [...recorded, ...gemini, ...renamed.map((recording) => ({ ...recording, family: "renamed" }))];
}

/** What a reader makes of a body, and the error at which it stops. */
function readAll(wire: Wire, body: Uint8Array, getSize: () => number): { chunks: Chunk[]; error?: unknown } {
  const reader = createSseReader(wire);
  const chunks: Chunk[] = [];
  try {
    for (let at = 0; at < body.length; ) {
      const end = at + Math.max(1, getSize());
      chunks.push(...reader.read(body.subarray(at, end)));
      at = end;
    }
    chunks.push(...reader.end());
  } catch (error) {
    return { chunks, error };
  }
  return { chunks };
}

const withoutShapes = (wire: Wire): Wire => ({
  ...wire,
  reader(hosted) {
    const { read } = wire.reader(hosted);
    return { read };
  },
});

/** Numbers from 0 to 1 that are the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe.skipIf(isAbsent)("recorded streams, read by shape", () => {
  it("give the same chunks as parsed ones, whole and in random pieces (F17)", () => {
    const streams = listRecordings();
    expect(streams.length).toBeGreaterThan(318);
    for (const { name, family, body } of streams) {
      const wire = wires[family] as Wire;
      const bytes = new TextEncoder().encode(body);
      const random = createRandom(body.length);
      for (const getSize of [() => bytes.length, () => Math.floor(random() ** 2 * 3000)]) {
        const getSizeAgain = createSizes(getSize);
        const expected = readAll(withoutShapes(wire), bytes, getSizeAgain());
        expect(readAll(wire, bytes, getSizeAgain()), name).toEqual(expected);
      }
    }
  });

  // Those of Gemini are few and short.
  it.each([
    ["openai-chat", 0.5],
    ["openai-compat", 0.5],
    ["openai-responses", 0.5],
    ["anthropic", 0.5],
    ["gemini", 0.05],
  ])("are mostly read without the parser (%s)", (family, share) => {
    const wire = wires[family] as Wire;
    let [shaped, parsed] = [0, 0];
    const counting: Wire = {
      ...wire,
      reader(hosted) {
        const { read, repeated } = wire.reader(hosted);
        return {
          read(event) {
            parsed += 1;
            return read(event);
          },
          ...(repeated && {
            repeated: {
              ...repeated,
              read(...event) {
                shaped += 1;
                repeated.read(...event);
              },
            },
          }),
        };
      },
    };
    const isLong = ({ body }: Recording) => body.length > 16_000;
    for (const { body } of listRecordings()
      .filter((recording) => recording.family === family)
      .filter(isLong))
      readAll(counting, new TextEncoder().encode(body), () => 1e6);
    expect(shaped / (shaped + parsed), `${shaped} of ${shaped + parsed}`).toBeGreaterThan(share);
  });
});

/** Returns the same sizes each time. */
function createSizes(getSize: () => number): () => () => number {
  const sizes: number[] = [];
  return () => {
    let index = 0;
    return () => {
      sizes[index] ??= getSize();
      return sizes[index++] ?? 1;
    };
  };
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Chunk } from "../../kernel/model.ts";
import { readCpuMs } from "../../testing/cpu-time.ts";
import { createDialectParser } from "./parser.ts";

type Piece =
  | { type: "text" | "reasoning"; text: string }
  | { type: "call"; index: number; name: string; arguments: string };

const offered = new Set(["weather", "pay", "read file"]);

/** What the chunks say, with neighbouring pieces of the same kind made one. */
function assembled(chunks: readonly Chunk[]): Piece[] {
  const pieces: Piece[] = [];
  for (const chunk of chunks) {
    const last = pieces.at(-1);
    if (chunk.type === "text" || chunk.type === "reasoning") {
      if (last?.type === chunk.type) last.text += chunk.text;
      else pieces.push({ type: chunk.type, text: chunk.text });
    } else if (chunk.type === "call_start")
      pieces.push({ type: "call", index: chunk.index, name: chunk.name, arguments: "" });
    else if (chunk.type === "call_delta" && last?.type === "call" && last.index === chunk.index)
      last.arguments += chunk.text;
    else throw new Error(`unexpected ${chunk.type}`);
  }
  return pieces;
}

function parsed(...texts: readonly string[]): Piece[] {
  const parser = createDialectParser({ offered });
  const chunks = texts.flatMap((text) => parser.feed(text));
  return assembled([...chunks, ...parser.end()]);
}

const text = (said: string): Piece => ({ type: "text", text: said });
const call = (name: string, args: string, index = 0): Piece => ({
  type: "call",
  index,
  name,
  arguments: args,
});
const isText = (said: string) => expect(parsed(said)).toEqual([text(said)]);

describe("the parser of the text dialect", () => {
  it("reads a call after a thought (S4-29, S4-30)", () => {
    expect(
      parsed(
        '[Thinking: I need to fetch information from the web]\n\nTOOL_CALL: web_fetch\nARGUMENTS: {"url": "https://ai.google.dev/news", "extract": true}',
      ),
    ).toEqual([
      { type: "reasoning", text: "I need to fetch information from the web" },
      call("web_fetch", '{"url": "https://ai.google.dev/news", "extract": true}'),
    ]);
  });

  it("reads several calls and keeps the text around them (S4-30)", () => {
    expect(
      parsed(
        'First.\n\nTOOL_CALL: weather\nARGUMENTS: {"city":"Oslo"}\n\nTOOL_CALL: pay\nARGUMENTS: {}\nThen\n  more.\n',
      ),
    ).toEqual([
      text("First."),
      call("weather", '{"city":"Oslo"}', 0),
      call("pay", "{}", 1),
      text("Then\n  more.\n"),
    ]);
  });

  it.each([
    ["nested", '{"a":{"b":[{"c":{}}]}}'],
    ["on many lines", '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}'],
    ["empty", "{}"],
    ["with brackets in strings", '{"code":"if (x) { y[0] = \\"}\\"; }"}'],
    ["with escapes at the end of strings", '{"path":"C:\\\\","more":"\\\\\\"{"}'],
    ["with markers in strings", '{"text":"TOOL_CALL: pay\\nARGUMENTS: {}"}'],
    ["a list, which the runtime refuses", "[1, {}]"],
  ])("reads arguments that are %s (D-20)", (_what, json) => {
    for (const written of [
      ` ${json}`,
      json,
      `\n${json}`,
      ` \`\`\`json\n${json}\n\`\`\``,
      `\n\`\`\`\n${json}\n\`\`\`\n`,
    ])
      expect(parsed(`TOOL_CALL: weather\nARGUMENTS:${written}\nDone.`)).toEqual([
        call("weather", json),
        text("Done."),
      ]);
  });

  it("reads lines that end with carriage returns, up to three spaces before a marker, and names in quotes", () => {
    expect(parsed("  TOOL_CALL: `weather`\r\n  ARGUMENTS: {}\r\n\r\n")).toEqual([call("weather", "{}")]);
    expect(parsed("TOOL_CALL: read file\nARGUMENTS: {}")).toEqual([call("read file", "{}")]);
  });

  it.each([
    ["inside a code fence", "So:\n```\nTOOL_CALL: pay\nARGUMENTS: {}\n```\nThat is it."],
    [
      "inside a fence of tildes",
      "~~~text\nTOOL_CALL: pay\nARGUMENTS: {}\n```\nTOOL_CALL: pay\nARGUMENTS: {}\n~~~",
    ],
    [
      "inside a fence that never ends",
      "````\nTOOL_CALL: pay\nARGUMENTS: {}\n```\nTOOL_CALL: pay\nARGUMENTS: {}",
    ],
    ["indented by four spaces", "    TOOL_CALL: pay\n    ARGUMENTS: {}"],
    ["indented by a tab", "\tTOOL_CALL: pay\n\tARGUMENTS: {}"],
    ["quoted", "> TOOL_CALL: pay\n> ARGUMENTS: {}"],
    ["in a list", "- TOOL_CALL: pay\n  ARGUMENTS: {}"],
    ["in the middle of a line", "Write TOOL_CALL: pay\nARGUMENTS: {}"],
    ["in other letters", "tool_call: pay\nARGUMENTS: {}"],
    ["as the instructions say it", "TOOL_CALL: <tool_name>\nARGUMENTS: <json_arguments>\n"],
    ["as the beginning of a sentence", "TOOL_CALL: is the marker of calls\nARGUMENTS: {}"],
    ["without arguments, before other words", "TOOL_CALL: pay\n\nThat was a marker."],
    ["without a name", "TOOL_CALL:\nARGUMENTS: {}"],
    ["naming no tool, at the end", "TOOL_CALL: nothing"],
    ["after a line that is too long", `TOOL_CALL: ${"x".repeat(300)}\nARGUMENTS: {}`],
    ["as a thought in the middle of a line", "I was [Thinking: hard]."],
    ["as arguments alone", "ARGUMENTS: {}"],
  ])("reads a marker %s as text (S4-31)", (_what, said) => {
    isText(said);
  });

  it("recognizes markers again after the code fence", () => {
    expect(parsed("```\nTOOL_CALL: a\n```\nTOOL_CALL: pay\nARGUMENTS: {}")).toEqual([
      text("```\nTOOL_CALL: a\n```"),
      call("pay", "{}"),
    ]);
    expect(parsed("```inline```\nTOOL_CALL: pay\nARGUMENTS: {}")).toEqual([
      text("```inline```"),
      call("pay", "{}"),
    ]);
  });

  it("reads a call of an unknown tool only if JSON follows", () => {
    expect(parsed('TOOL_CALL: serch\nARGUMENTS: {"q":1}')).toEqual([call("serch", '{"q":1}')]);
    isText("TOOL_CALL: serch\nARGUMENTS: q=1");
  });

  it("finds the call after text that looked like a marker", () => {
    expect(parsed("TOOL_CALL: pay\nTOOL_CALL: weather\nARGUMENTS: {}")).toEqual([
      text("TOOL_CALL: pay"),
      call("weather", "{}"),
    ]);
  });

  it.each([
    ["TOOL_CALL: pay", "(missing)"],
    ["TOOL_CALL: pay\n", "(missing)"],
    ["TOOL_CALL: pay\nARGUM", "(missing)"],
    ["TOOL_CALL: pay\nARGUMENTS:", "(missing)"],
    ["TOOL_CALL: pay\nARGUMENTS: ```json\n", "```json"],
    ["TOOL_CALL: pay\nARGUMENTS: {", "{"],
    ['TOOL_CALL: pay\nARGUMENTS: {"amount": 5', '{"amount": 5'],
    ['TOOL_CALL: pay\nARGUMENTS: {"to": "}', '{"to": "}'],
    ["TOOL_CALL: pay\nARGUMENTS: amount=5\n", "amount=5"],
  ])("gives a truncated call invalid JSON arguments: %j", (said, args) => {
    expect(parsed(said)).toEqual([call("pay", args)]);
    expect(() => JSON.parse(args)).toThrow();
  });

  it("reads thoughts with brackets and on many lines, and keeps two apart (S4-30)", () => {
    expect(parsed("[Thinking: a[0] is\n[b]]\n\n[Thinking: more]\n[Thinking:]\nAnswer [1].")).toEqual([
      { type: "reasoning", text: "a[0] is\n[b]\n\nmore" },
      text("Answer [1]."),
    ]);
  });

  it("emits text at once, and holds back only a possible marker", () => {
    const parser = createDialectParser({ offered });
    const said = ["Hel", "lo", "\n", "TO", "DAY", "\n", "[Thin", "gs]"].map((piece) =>
      assembled(parser.feed(piece)).map((part) => (part.type === "call" ? part.name : part.text)),
    );
    expect(said).toEqual([["Hel"], ["lo"], [], [], ["\nTODAY"], [], [], ["\n[Things]"]]);
  });

  it("emits arguments while they stream", () => {
    const parser = createDialectParser({ offered });
    expect(parser.feed('TOOL_CALL: pay\nARGUMENTS: {"a')).toEqual([
      { type: "call_start", index: 0, name: "pay" },
      { type: "call_delta", index: 0, text: '{"a' },
    ]);
    expect(parser.feed('":1}')).toEqual([{ type: "call_delta", index: 0, text: '":1}' }]);
  });

  it("reads a million characters in time that grows with their number", () => {
    const line = "Some text that is long enough to be a line of an answer.\n";
    const page = line.repeat(20_000);
    const startedAt = readCpuMs();
    expect(parsed(page)).toEqual([text(page)]);
    expect(parsed(...Array.from({ length: 100_000 }, () => "\n"))).toEqual([text("\n".repeat(100_000))]);
    expect(readCpuMs() - startedAt).toBeLessThan(2000);
  });
});

/** Pieces that are likely to make trouble next to each other. */
const soup = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...["TOOL_CALL:", "ARGUMENTS:", "[Thinking:", "]", "[", "{", "}", '"', "\\", "```", "~~~", "`", ">"],
        ...[" ", "    ", "\n", "\n\n", "\r\n", "\t", "pay", "weather", "json", "TOOL_", "{}", '{"a":"}"}'],
        ...[
          "TOOL_CALL: pay\n",
          "ARGUMENTS: {}",
          "\nTOOL_CALL: other\nARGUMENTS:",
          "```json\n",
          "[Thinking: ",
        ],
      ),
      fc.string({ maxLength: 5, unit: "grapheme" }),
    ),
    { maxLength: 25 },
  )
  .map((pieces) => pieces.join(""));

function cutAt(whole: string, places: readonly number[]): string[] {
  const sorted = [
    0,
    ...places.map((place) => place % (whole.length + 1)).sort((a, b) => a - b),
    whole.length,
  ];
  return sorted.slice(1).map((end, n) => whole.slice(sorted[n], end));
}

describe("for any text, the parser of the text dialect", () => {
  it("produces the same however the text is split (D-20)", () => {
    fc.assert(
      fc.property(soup, fc.array(fc.nat(), { maxLength: 8 }), (said, places) => {
        const whole = parsed(said);
        expect(parsed(...cutAt(said, places))).toEqual(whole);
        expect(parsed(...said)).toEqual(whole);
      }),
      { numRuns: 2000 },
    );
  });

  it("passes text without markers unchanged (S4-31)", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "grapheme" }), soup), fc.array(fc.nat()), (said, places) => {
        fc.pre(!said.includes("TOOL_CALL:") && !said.includes("[Thinking:"));
        expect(parsed(...cutAt(said, places))).toEqual(said ? [text(said)] : []);
      }),
      { numRuns: 500 },
    );
  });

  it("returns any calls as they were written (S4-29, D-20)", () => {
    const words = fc
      .array(fc.constantFrom("Some", "words {", "}", '"', "[x]", "1.", "\n", "  \n", "> q", "TOOL_CALL"), {
        maxLength: 6,
      })
      .map((list) => list.join(" ").trim());
    const args = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }));
    const name = fc.stringMatching(/^[a-zA-Z_][\w.-]{0,20}$/);
    const written = fc.record({ name, args, words, indent: fc.constantFrom(0, 2), isFenced: fc.boolean() });
    fc.assert(
      fc.property(words, fc.array(written, { maxLength: 4 }), fc.array(fc.nat()), (before, calls, places) => {
        const expected: Piece[] = before ? [text(before)] : [];
        let said = before;
        for (const [index, { name, args, words, indent, isFenced }] of calls.entries()) {
          const json = JSON.stringify(args, null, indent);
          said += `\n\nTOOL_CALL: ${name}\nARGUMENTS: ${isFenced ? `\`\`\`json\n${json}\n\`\`\`` : json}\n${words}`;
          expected.push(call(name, json, index), ...(words ? [text(words)] : []));
        }
        expect(parsed(...cutAt(said, places))).toEqual(expected);
        expect(extractToolCalls(said)).toEqual(
          calls.map(({ name }, n) => ({
            name,
            arguments: JSON.stringify(calls[n]?.args, null, calls[n]?.indent),
          })),
        );
      }),
      { numRuns: 500 },
    );
  });
});

/** The calls in a text, with their arguments as they were written. */
function extractToolCalls(text: string): readonly { name: string; arguments: string }[] {
  const parser = createDialectParser({ offered: new Set() });
  const calls: { name: string; arguments: string }[] = [];
  for (const chunk of [...parser.feed(text), ...parser.end()]) {
    if (chunk.type === "call_start") calls.push({ name: chunk.name, arguments: "" });
    const call = calls.at(-1);
    if (chunk.type === "call_delta" && call) call.arguments += chunk.text;
  }
  return calls;
}

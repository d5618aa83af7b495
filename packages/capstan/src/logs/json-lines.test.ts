import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Delta, Event, Fact } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { collect } from "../testing/collect.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type JsonLinesOptions, jsonLines } from "./json-lines.ts";

const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1 };
const createWarning = (message: string): Fact => ({
  ...origin,
  ...{ type: "warning", code: "odd", message, seq: 1, at: 0, id: "w" },
});
const createDelta = (delta: string, more: Partial<Delta> = {}) =>
  ({ ...origin, type: "content_delta", delta, ...more }) as Delta;

function writeLines(events: readonly Event[], options?: JsonLinesOptions): string[] {
  const lines: string[] = [];
  const sink = jsonLines((line) => lines.push(line), options);
  for (const event of events) sink(event);
  return lines;
}

const parseLines = (lines: readonly string[]): Event[] => lines.map((line) => JSON.parse(line) as Event);

/** Includes lone surrogates. */
const anyText = fc.array(fc.nat(0xffff), { maxLength: 30 }).map((units) => String.fromCharCode(...units));

/** Joins the deltas of one text. */
const joinDeltas = (lines: readonly string[], type = "content_delta"): string =>
  parseLines(lines)
    .map((event) => (event.type === type && "delta" in event ? event.delta : ""))
    .join("");

describe("jsonLines", () => {
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    execute(_, { progress }) {
      progress({ share: 0.5 });
      return "seen";
    },
  });
  const createToolAgent = () => {
    const model = scriptedModel([{ calls: [{ name: "look" }] }, { text: "Done.", split: 2 }]);
    return defineAgent({ name: "a", model, tools: [look] });
  };

  it("writes every fact as one line, and every event with deltas on (S1-19, S4-10)", async () => {
    const lines: string[] = [];
    const allLines: string[] = [];
    const [facts, everything] = [
      jsonLines((line) => lines.push(line)),
      jsonLines((line) => allLines.push(line), { deltas: true }),
    ];
    const onEvent = (event: Event) => {
      facts(event);
      everything(event);
    };
    const collected = await collect(run(createToolAgent(), "Go", { hooks: { onEvent } }));
    expect(parseLines(lines)).toEqual(collected.facts);
    expect(parseLines(allLines)).toEqual(collected.events);
    expect([...lines, ...allLines].filter((line) => line.indexOf("\n") !== line.length - 1)).toEqual([]);
  });

  it("escapes text that would forge a line, move a cursor or hide, and it parses back unchanged (A124)", () => {
    const hostile =
      'x\n{"type":"done"}\r\u001b[2J\u009b2J\u007f\u0085\u2028\u2029\u202e\ufeff\ud800\u{e0041}';
    const [line = ""] = writeLines([createWarning(hostile)]);
    expect(line).toMatch(/^[ -~]+\n$/);
    expect(parseLines([line])).toEqual([createWarning(hostile)]);
  });

  it("any text parses back unchanged from a single line (A124)", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const lines = writeLines([createWarning(text)]);
        expect(parseLines(lines)).toEqual([createWarning(text)]);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        expect(lines.join("")).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*\n$/);
      }),
    );
  });

  it("keeps letters and emoji unchanged", () => {
    expect(writeLines([createWarning("7 °C, 東京, 👩‍🚀")])[0]).toContain("7 °C, 東京, 👩‍🚀");
  });

  it("writes the problem instead of an event that is not JSON, without throwing", () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const progress = { ...origin, type: "tool_progress", id: "c", data: circular } as unknown as Delta;
    const [line = "{}"] = writeLines([progress], { deltas: true });
    expect(JSON.parse(line)).toEqual({
      ...origin,
      type: "tool_progress",
      problem: expect.stringContaining("circular"),
    });
  });
});

describe("jsonLines with secrets", () => {
  const secret = 'tok"en\n-12345';
  const options = { deltas: true, secrets: [secret, "31415926"] };

  it("masks every field: strings, keys, numbers and nested values (A110, A112)", () => {
    const fact = {
      ...createWarning(`Incorrect API key provided: ${secret}`),
      ...{ code: secret, data: { [`x${secret}`]: [{ pin: 31415926, ok: 1 }, JSON.stringify({ secret })] } },
    };
    const [line = "{}"] = writeLines([fact], options);
    expect(JSON.parse(line)).toEqual({
      ...createWarning("Incorrect API key provided: ***"),
      ...{ code: "***", data: { "x***": [{ pin: "***", ok: 1 }, '{"secret":"***"}'] } },
    });
  });

  it("stays valid JSON when a secret looks like part of an escape or of the syntax (A110)", () => {
    const lines = writeLines([createWarning('a\n1234567 and {"b":1}')], {
      secrets: ["n1234567", '"type":', '","code'],
    });
    expect(parseLines(lines)).toEqual([createWarning('a\n1234567 and {"b":1}')]);
  });

  it("a secret does not leak through deltas, wherever the text is split (A111)", () => {
    const text = `The key is ${secret}, say it: ${secret}. tok"en`;
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (places) => {
        const borders = [0, ...places.sort((left, right) => left - right), text.length];
        const pieces = borders.slice(1).map((end, index) => createDelta(text.slice(borders[index], end)));
        const lines = writeLines([...pieces, createWarning("end")], options);
        expect(joinDeltas(lines)).toBe('The key is ***, say it: ***. tok"en');
      }),
    );
  });

  it("held-back text is written as a delta before the next fact of its own run (A111)", () => {
    const other = { ...createWarning("else"), runId: "r2" };
    const lines = writeLines(
      [createDelta("Say tok"), other, createDelta('"'), createWarning("end"), createDelta("en")],
      options,
    );
    expect(parseLines(lines)).toEqual([
      createDelta("Say "),
      other,
      createDelta('tok"'),
      createWarning("end"),
      createDelta("en"),
    ]);
  });

  it("reasoning, text and the arguments of each call are masked separately (A111)", () => {
    const call = (id: string, delta: string) =>
      createDelta(delta, { type: "tool_call_delta", id, name: "t" });
    const thought = (delta: string) => createDelta(delta, { type: "reasoning_delta" });
    const half = JSON.stringify(secret).slice(1, 8);
    const rest = JSON.stringify(secret).slice(8, -1);
    const events = [thought(half), createDelta(half), call("1", half), call("2", half)];
    const lines = writeLines(
      [...events, call("2", rest), call("1", rest), createDelta(rest), thought(rest)],
      options,
    );
    expect(parseLines(lines)).toEqual([
      call("2", "***"),
      call("1", "***"),
      createDelta("***"),
      thought("***"),
    ]);
  });

  it("the empty first delta of a call is written immediately", () => {
    const firstDelta = createDelta("", { type: "tool_call_delta", id: "1", name: "t" });
    expect(parseLines(writeLines([firstDelta], options))).toEqual([firstDelta]);
  });

  it("held-back text is written before a restart and not joined with later text (A111)", () => {
    const restart: Delta = { ...origin, type: "message_restart", reason: "stream_truncated" };
    const lines = writeLines(
      [createDelta("tok"), restart, createDelta('"en'), createWarning("end")],
      options,
    );
    expect(parseLines(lines)).toEqual([
      createDelta("tok"),
      restart,
      createDelta('"en'),
      createWarning("end"),
    ]);
  });
});

describe("a sink that fails", () => {
  it("does not affect the run, which warns once (S4-10)", async () => {
    const agent = () => defineAgent({ name: "a", model: scriptedModel([{ text: "Done." }]) });
    const broken = jsonLines(() => {
      throw new Error("disk full");
    });
    const whole = await collect(run(agent(), "Go"));
    const { facts, result } = await collect(run(agent(), "Go", { hooks: { onEvent: broken } }));
    expect(result).toMatchObject({ status: "done", text: "Done." });
    const warnings = facts.filter((fact) => fact.type === "warning");
    expect(warnings.map(({ code }) => code)).toEqual(["hook_failed"]);
    const others = facts.filter((fact) => fact.type !== "warning").map((fact) => fact.type);
    expect(others).toEqual(whole.facts.map((fact) => fact.type));
  });
});

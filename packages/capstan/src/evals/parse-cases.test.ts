import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import { parseCases } from "./parse-cases.ts";

describe("cases from CSV", () => {
  it("have quoted cells with commas, quotes and line breaks, lists, and a context", () => {
    const text = [
      "\uFEFFid,input,expected,calls,forbidden,tags,context",
      'refund,"Refund order 7, please","It says ""done"".",find_order; refund,send_*,a;b,"{""user"":7}"',
      '"two\nlines","What is ""x""?",,"[{""name"":""find"",""input"":{""id"":1}}]",,,',
      "",
    ].join("\r\n");
    expect(parseCases(text, "csv")).toEqual([
      {
        id: "refund",
        input: "Refund order 7, please",
        expected: 'It says "done".',
        calls: ["find_order", "refund"],
        forbidden: ["send_*"],
        tags: ["a", "b"],
        context: { user: 7 },
      },
      { id: "two\nlines", input: 'What is "x"?', calls: [{ name: "find", input: { id: 1 } }] },
    ]);
  });

  it.each([
    ["", "it has no cases"],
    ["input\n", "it has no cases"],
    ["id,expected\n1,2", 'it has no column "input"'],
    ["id,input,expcted\n1,2,3", 'unknown column "expcted". Did you mean "expected"?'],
    ["input,input\na,b", 'it has two columns "input"'],
    ['input\n"open', "the quote that opens in line 2 is never closed"],
    ['input\n"a"b', "line 2 has text behind a closing quote"],
    ["input\na,b", "line 2 has 2 cells, and the header 1 column"],
    ["id,input\nx,a\nx,b", 'lines 2 and 3 have the same id "x"'],
    ["id,expected,input\nx,y,", "The case in line 2 cannot be used: it has no input"],
    ["input,context\na,{", 'the column "context" in line 2 is not JSON'],
    [`input,id\na,${"x".repeat(200)}`, "its id must be a text of 1 to 120 characters"],
  ])("that cannot be used name the problem: %j", (text, problem) => {
    expect(() => parseCases(text, "csv")).toThrow(problem);
  });
});

describe("cases from JSONL", () => {
  it("are objects, one per line", () => {
    const text =
      '{"id":"a","input":"x","expected":{"n":1}}\n\n{"id":"b","input":[{"role":"user","content":"hi"}]}\n';
    expect(parseCases(text, "jsonl")).toEqual([
      { id: "a", input: "x", expected: { n: 1 } },
      { id: "b", input: [{ role: "user", content: "hi" }] },
    ]);
  });

  it("without an id are named by their question, with a number if the name is taken", () => {
    const inputs: readonly unknown[] = [
      "Open on\n Monday?",
      [
        { role: "user", content: "Hello" },
        { role: "assistant", content: "Hi" },
        { role: "user", content: "Open on Monday?" },
      ],
      [{ type: "image", mediaType: "image/png", data: "AA==" }],
      "x".repeat(500),
    ];
    const lines = inputs.map((input) => JSON.stringify({ input }));
    const named = JSON.stringify({ id: "Open on Monday? (2)", input: "y" });
    expect(parseCases([...lines, named].join("\n"), "jsonl").map(({ id }) => id)).toEqual([
      "Open on Monday?",
      "Open on Monday? (3)",
      "[image image/png]",
      `${"x".repeat(100)}…`,
      "Open on Monday? (2)",
    ]);
  });

  it.each([
    ["{", "line 1 is not JSON"],
    ["[1]", "line 1 is not an object, but [1]"],
    ['{"input":"a"}\n{"input":7}', "The input cannot be used"],
    ['{"input":"a","call":["x"]}', 'unknown field "call". Did you mean "calls"?'],
    ['{"input":"a","calls":[{"nam":"x"}]}', "its calls must be a list of tool names"],
    ['{"input":"a","source":{"runId":1}}', "its source must have a runId and a sessionId"],
    ['{"input":"a","__proto__":{"id":"evil"}}', 'unknown field "__proto__"'],
  ])("that cannot be used name the problem: %s", (text, problem) => {
    expect(() => parseCases(text, "jsonl")).toThrow(problem);
  });

  it("any text gives cases or a named error, in both formats", () => {
    const text = fc.oneof(
      fc.string(),
      fc
        .array(fc.constantFrom('"', ",", "\n", "\r\n", "input", "id", "{", "}", "a", ";"))
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, fc.constantFrom("csv" as const, "jsonl" as const), (content, format) => {
        try {
          for (const { id, input } of parseCases(content, format)) expect(id && input).toBeTruthy();
        } catch (error) {
          expect(error).toBeInstanceOf(AgentError);
          expect((error as AgentError).code).toBe("invalid_input");
        }
      }),
      { numRuns: 500 },
    );
  });
});

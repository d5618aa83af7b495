import { describe, expect, it } from "vitest";
import { summarize } from "../testing/ask.ts";
import { createRandom } from "../testing/tiny-gguf.ts";
import { createAnswerReader } from "./answer-reader.ts";
import type { ChatFormat } from "./chat-format.ts";

const format: ChatFormat = {
  call: {
    trigger: "<tool_call>",
    namePrefix: '\n{"name": "',
    argumentsPrefix: '", "arguments": ',
    suffix: "}\n</tool_call>",
    separator: "\n",
  },
  thought: { prefix: "<think>", suffix: "</think>" },
};

type Options = Partial<Parameters<typeof createAnswerReader>[0]>;

/** Reads a text in pieces of random length. */
function read(text: string, seed: number, options: Options = {}) {
  const random = createRandom(seed);
  const reader = createAnswerReader({
    format,
    hasTools: true,
    startsInThought: false,
    stops: [],
    ...options,
  });
  const chunks = [];
  for (let rest = text; rest !== ""; ) {
    const length = seed === 0 ? rest.length : 1 + Math.floor(random() * 6);
    chunks.push(...reader.push(rest.slice(0, length)));
    rest = rest.slice(length);
  }
  chunks.push(...reader.end());
  const { text: answer, reasoning, calls } = summarize(chunks);
  return { answer, reasoning, calls, isStopped: reader.isStopped };
}

const call = (name: string, text: string) =>
  `<tool_call>\n{"name": "${name}", "arguments": ${text}}\n</tool_call>`;

describe("the reader of answers", () => {
  it.each([
    ["Hello <b>, 1 < 2", { answer: "Hello <b>, 1 < 2", reasoning: "", calls: [] }],
    ["<think>\nHm </thin\n</think>\n\nYes.", { answer: "Yes.", reasoning: "Hm </thin", calls: [] }],
    [
      `I look.\n${call("a", '{"x": "}]\\"{"}')}\n${call("b", "{}")}`,
      {
        answer: "I look.",
        reasoning: "",
        calls: [
          { name: "a", text: '{"x": "}]\\"{"}' },
          { name: "b", text: "{}" },
        ],
      },
    ],
    [
      `<think>So</think>${call("a", '{"l":[{"y":1}]}')}`,
      { answer: "", reasoning: "So", calls: [{ name: "a", text: '{"l":[{"y":1}]}' }] },
    ],
    [
      "Text that ends with white space \n",
      { answer: "Text that ends with white space", reasoning: "", calls: [] },
    ],
  ])("gives the same parts of %j however it is split", (text, expected) => {
    for (let seed = 0; seed < 50; seed++) expect(read(text, seed)).toMatchObject(expected);
  });

  it("ends the answer before a stop text, also if it arrives in pieces", () => {
    for (let seed = 0; seed < 50; seed++)
      expect(read("One two STOP three", seed, { stops: ["STOP", "never"] })).toMatchObject({
        answer: "One two ",
        isStopped: true,
      });
  });

  it("reads reasoning that the prompt has opened", () => {
    expect(read("why</think>because", 3, { startsInThought: true })).toMatchObject({
      answer: "because",
      reasoning: "why",
    });
  });

  it("takes calls for text if the request has no tools", () => {
    expect(read(call("a", "{}"), 5, { hasTools: false })).toMatchObject({
      answer: call("a", "{}"),
      calls: [],
    });
  });
});

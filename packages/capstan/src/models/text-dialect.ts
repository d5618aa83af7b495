import type { Chunk, Model, ModelRequest } from "../model.ts";
import { type DialectOptions, dialectHistory, type Say, sayWith } from "./text-dialect/dialect-history.ts";
import { dialectInstructions } from "./text-dialect/dialect-instructions.ts";
import { dialectParser } from "./text-dialect/parser.ts";

export { type DialectParser, type DialectParserOptions, dialectParser } from "./text-dialect/parser.ts";

/**
 * Gives tools to a model that has none of its own: they are described in the instructions, called with `TOOL_CALL:`
 * and `ARGUMENTS:`, and answered with `TOOL_RESULT:`, all as text. The runtime sees calls like any other model's.
 */
export function textDialect(model: Model, options: DialectOptions = {}): Model {
  const say = sayWith(options);
  const toText = dialectHistory(say);
  return {
    id: model.id,
    async *stream(request, streaming) {
      const answer = answerReader(request);
      for await (const chunks of model.stream(textRequest(request, toText, say), streaming)) {
        const read = chunks.flatMap((chunk) => answer.read(chunk));
        if (read.length > 0) yield read;
      }
      const rest = answer.end();
      if (rest.length > 0) yield rest;
    },
  };
}

function textRequest(
  request: ModelRequest,
  toText: ReturnType<typeof dialectHistory>,
  say: Say,
): ModelRequest {
  const { output, ...rest } = request;
  const { tools } = request;
  return {
    ...rest,
    instructions: say(dialectInstructions(request)),
    history: toText(request.history),
    tools: [],
    toolChoice: "none",
    // A model held to a form cannot write a call; the instructions ask for the form too.
    ...(output !== undefined && tools.length === 0 && { output }),
  };
}

type AnswerReader = {
  readonly read: (chunk: Chunk) => readonly Chunk[];
  readonly end: () => readonly Chunk[];
};

function answerReader({ tools }: ModelRequest): AnswerReader {
  const offered = new Set(tools.map(({ name }) => name));
  // A model may have calls of its own all the same: both kinds share one row of numbers.
  let calls = 0;
  const own = new Map<number, number>();
  const nextIndex = () => calls++;
  const indexOf = (index: number) => {
    const known = own.get(index) ?? nextIndex();
    own.set(index, known);
    return known;
  };
  let parser = dialectParser({ offered, nextIndex });
  const read = (chunk: Chunk): readonly Chunk[] => {
    switch (chunk.type) {
      case "text":
        // The provider's data belongs to a block of text that is cut anew here.
        return parser.feed(chunk.text);
      case "call_start":
      case "call_delta":
        return [{ ...chunk, index: indexOf(chunk.index) }];
      case "restart":
        parser = dialectParser({ offered, nextIndex });
        own.clear();
        calls = 0;
        return [chunk];
      case "finish": {
        const rest = parser.end();
        const isCalling = calls > 0 && chunk.reason === "stop";
        return [...rest, isCalling ? { type: "finish", reason: "tool_calls" } : chunk];
      }
      case "reasoning":
      case "opaque":
      case "usage":
        return [chunk];
    }
  };
  return { read, end: () => parser.end() };
}

export type DialectCall = { readonly name: string; readonly arguments: string };

import { type Chunk, type Model, type ModelRequest, toStopReason } from "../kernel/model.ts";
import {
  createHistoryConverter,
  createSanitizer,
  type DialectOptions,
} from "./text-dialect/dialect-history.ts";
import { buildInstructions, formatChoice, sectionChoice } from "./text-dialect/dialect-instructions.ts";
import { buildHistorySection } from "./text-dialect/history-section.ts";
import { createDialectParser } from "./text-dialect/parser.ts";

export { createDialectParser, type DialectParser, type DialectParserOptions } from "./text-dialect/parser.ts";

/**
 * Adds tools to a model without native tool calling: they are described in the instructions, called with `TOOL_CALL:`
 * and `ARGUMENTS:`, and answered with `TOOL_RESULT:`, all as text. The runtime sees ordinary calls.
 */
export function textDialect(model: Model, options: DialectOptions = {}): Model {
  const toTextRequest = createRequestConverter(options);
  return {
    id: model.id,
    acceptsMedia: (part) => model.acceptsMedia?.(part) ?? true,
    // The instructions limit the calls, so the model itself does not have to.
    checkSettings: ({ toolChoice: _choice, parallelToolCalls: _parallel, ...settings }) =>
      model.checkSettings?.(settings) ?? [],
    checkHosted: (request) => model.checkHosted?.(request) ?? [],
    async *stream(request, streaming) {
      const answer = createAnswerReader(request);
      for await (const chunks of model.stream(toTextRequest(request), streaming)) {
        const read = chunks.flatMap((chunk) => answer.read(chunk));
        if (read.length > 0) yield read;
      }
      const rest = answer.end();
      if (rest.length > 0) yield rest;
    },
  };
}

function createRequestConverter(options: DialectOptions): (request: ModelRequest) => ModelRequest {
  const sanitize = createSanitizer(options);
  const toText = createHistoryConverter(sanitize);
  return (request) => {
    const { output, ...rest } = request;
    const { tools, toolChoice } = request;
    const hasTools = tools.length > 0;
    const isSection = hasTools && options.history === "section";
    const instructions = buildInstructions(request);
    const choice = isSection && toolChoice === "auto" ? sectionChoice : formatChoice(toolChoice);
    const history = toText(request.history);
    return {
      ...rest,
      instructions: sanitize(hasTools && !isSection ? `${instructions}\n\n${choice}` : instructions),
      history: isSection ? [buildHistorySection(history, choice)] : history,
      tools: [],
      toolChoice: "none",
      // A model constrained to a schema cannot write a call; the instructions describe the schema too.
      ...(output !== undefined && !hasTools && { output }),
    };
  };
}

type DialectReader = {
  readonly read: (chunk: Chunk) => readonly Chunk[];
  readonly end: () => readonly Chunk[];
};

function createAnswerReader({ tools }: ModelRequest): DialectReader {
  const offered = new Set(tools.map(({ name }) => name));
  // The model may still make native calls: both kinds share one sequence of indexes.
  let calls = 0;
  const nativeIndexes = new Map<number, number>();
  const nextIndex = () => calls++;
  const mapIndex = (index: number) => {
    const known = nativeIndexes.get(index) ?? nextIndex();
    nativeIndexes.set(index, known);
    return known;
  };
  let parser = createDialectParser({ offered, nextIndex });
  const read = (chunk: Chunk): readonly Chunk[] => {
    switch (chunk.type) {
      case "text":
        // Opaque data is dropped: it belongs to a text block that is split differently here.
        return parser.feed(chunk.text);
      case "call_start":
      case "call_delta":
        return [{ ...chunk, index: mapIndex(chunk.index) }];
      case "restart":
        parser = createDialectParser({ offered, nextIndex });
        nativeIndexes.clear();
        calls = 0;
        return [chunk];
      case "finish": {
        const rest = parser.end();
        const hasCalls = calls > 0 && toStopReason(chunk.reason) === "end";
        return [...rest, hasCalls ? { type: "finish", reason: "tool_calls" } : chunk];
      }
      case "reasoning":
      case "opaque":
      case "media":
      case "hosted":
      case "citation":
      case "usage":
      case "logprobs":
        return [chunk];
    }
  };
  return { read, end: () => parser.end() };
}

export type DialectCall = { readonly name: string; readonly arguments: string };

import type { Chunk, Model, ModelRequest, ToolSpec } from "../model.ts";
import type { Masking } from "./mask.ts";
import type { MaskedStream } from "./mask-secrets.ts";

/**
 * A model that is told no secret and whose calls name none. Calls are masked before they are checked and approved, so
 * that what a person agreed to is what is stored and run. Its words are masked where they are told and stored.
 */
export function maskedModel(model: Model, masking: Masking): Model {
  return {
    id: model.id,
    stream(request, options) {
      const reader = model.stream(maskedRequest(request, masking), options)[Symbol.asyncIterator]();
      const masked = maskedCalls(request, masking);
      const iterator: AsyncIterableIterator<readonly Chunk[]> = {
        async next() {
          const read = await reader.next();
          return read.done ? read : { done: false, value: masked(read.value) };
        },
        async return() {
          await reader.return?.();
          return { done: true, value: undefined };
        },
        [Symbol.asyncIterator]: () => iterator,
      };
      return iterator;
    },
  };
}

/** The history is masked in its facts; instructions and tools are no facts. */
function maskedRequest(request: ModelRequest, masking: Masking): ModelRequest {
  const instructions = masking.text(request.instructions);
  const tools = request.tools.map((tool) => maskedSpec(tool, masking));
  const isSame =
    instructions === request.instructions && tools.every((tool, index) => tool === request.tools[index]);
  return isSame ? request : { ...request, instructions, tools };
}

const specs = new WeakMap<Masking, WeakMap<ToolSpec, ToolSpec>>();

/** The same object for the same tool, so that it is written once. */
function maskedSpec(tool: ToolSpec, masking: Masking): ToolSpec {
  const known = specs.get(masking) ?? new WeakMap<ToolSpec, ToolSpec>();
  specs.set(masking, known);
  const masked = known.get(tool) ?? withoutSecrets(tool, masking);
  known.set(tool, masked);
  return masked;
}

function withoutSecrets(tool: ToolSpec, masking: Masking): ToolSpec {
  const description = masking.text(tool.description);
  const input = masking.value(tool.input);
  return description === tool.description && input === tool.input ? tool : { ...tool, description, input };
}

function maskedCalls(
  { tools }: ModelRequest,
  masking: Masking,
): (chunks: readonly Chunk[]) => readonly Chunk[] {
  const calls = new Map<number, MaskedStream>();
  const mask = (chunk: Chunk): readonly Chunk[] => {
    switch (chunk.type) {
      case "call_start": {
        const isOffered = tools.some(({ name }) => name === chunk.name);
        const name = isOffered ? chunk.name : masking.text(chunk.name);
        return [{ ...chunk, name, ...(chunk.id !== undefined && { id: masking.text(chunk.id) }) }];
      }
      case "call_delta": {
        const stream = calls.get(chunk.index) ?? masking.newStream();
        calls.set(chunk.index, stream);
        const text = stream.push(chunk.text);
        return text ? [{ ...chunk, text }] : [];
      }
      case "restart":
        calls.clear();
        return [chunk];
      case "finish":
        return [...restOf(calls), chunk];
      case "text":
      case "reasoning":
      case "opaque":
      case "usage":
        return [chunk];
    }
  };
  return (chunks) => (chunks.some(isOfCall) || calls.size > 0 ? chunks.flatMap(mask) : chunks);
}

function isOfCall({ type }: Chunk): boolean {
  return type === "call_start" || type === "call_delta";
}

function restOf(calls: ReadonlyMap<number, MaskedStream>): readonly Chunk[] {
  return [...calls].flatMap(([index, stream]) => {
    const text = stream.end();
    return text ? [{ type: "call_delta", index, text }] : [];
  });
}

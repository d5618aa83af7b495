import type { Chunk, Model, ModelRequest, ToolSpec } from "../kernel/model.ts";
import type { SecretMask } from "./mask.ts";
import type { MaskedStream } from "./mask-secrets.ts";

/**
 * Wraps a model so that its requests and calls contain no secrets. Calls are masked before they are checked and
 * approved, so that exactly the approved call is stored and run. Text is masked when it is emitted and stored.
 */
export function withMaskedModel(model: Model, secretMask: SecretMask): Model {
  return {
    id: model.id,
    checkSettings: (settings) => model.checkSettings?.(settings) ?? [],
    acceptsMedia: (part) => model.acceptsMedia?.(part) ?? true,
    checkHosted: (request) => model.checkHosted?.(request) ?? [],
    stream(request, options) {
      const reader = model.stream(maskRequest(request, secretMask), options)[Symbol.asyncIterator]();
      const masked = createCallMask(request, secretMask);
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

/** Masks instructions and tools; the history is already masked in its facts. */
function maskRequest(request: ModelRequest, secretMask: SecretMask): ModelRequest {
  const instructions = secretMask.text(request.instructions);
  const tools = request.tools.map((tool) => maskSpec(tool, secretMask));
  const isSame =
    instructions === request.instructions && tools.every((tool, index) => tool === request.tools[index]);
  return isSame ? request : { ...request, instructions, tools };
}

const maskedSpecs = new WeakMap<SecretMask, WeakMap<ToolSpec, ToolSpec>>();

/** Returns the same object for the same tool, so that it is serialized once. */
function maskSpec(tool: ToolSpec, secretMask: SecretMask): ToolSpec {
  const known = maskedSpecs.get(secretMask) ?? new WeakMap<ToolSpec, ToolSpec>();
  maskedSpecs.set(secretMask, known);
  const masked = known.get(tool) ?? createMaskedSpec(tool, secretMask);
  known.set(tool, masked);
  return masked;
}

function createMaskedSpec(tool: ToolSpec, secretMask: SecretMask): ToolSpec {
  const description = secretMask.text(tool.description);
  const input = secretMask.value(tool.input);
  return description === tool.description && input === tool.input ? tool : { ...tool, description, input };
}

function createCallMask(
  { tools }: ModelRequest,
  secretMask: SecretMask,
): (chunks: readonly Chunk[]) => readonly Chunk[] {
  const calls = new Map<number, MaskedStream>();
  const mask = (chunk: Chunk): readonly Chunk[] => {
    switch (chunk.type) {
      case "call_start": {
        const isKnownTool = tools.some(({ name }) => name === chunk.name);
        const name = isKnownTool ? chunk.name : secretMask.text(chunk.name);
        return [{ ...chunk, name, ...(chunk.id !== undefined && { id: secretMask.text(chunk.id) }) }];
      }
      case "call_delta": {
        const stream = calls.get(chunk.index) ?? secretMask.newStream();
        calls.set(chunk.index, stream);
        const text = stream.push(chunk.text);
        return text ? [{ ...chunk, text }] : [];
      }
      case "restart":
        calls.clear();
        return [chunk];
      case "finish":
        return [...flushCalls(calls), chunk];
      case "text":
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
  return (chunks) => (chunks.some(isCallChunk) || calls.size > 0 ? chunks.flatMap(mask) : chunks);
}

function isCallChunk({ type }: Chunk): boolean {
  return type === "call_start" || type === "call_delta";
}

function flushCalls(calls: ReadonlyMap<number, MaskedStream>): readonly Chunk[] {
  return [...calls].flatMap(([index, stream]) => {
    const text = stream.end();
    return text ? [{ type: "call_delta", index, text }] : [];
  });
}

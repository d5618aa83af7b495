import { isRecord, type Json } from "../base/json.ts";
import type { AssistantPart } from "../kernel/history.ts";
import type { Chunk } from "../kernel/model.ts";
import { withConvertedEntries } from "./convert-entries.ts";
import type { Wire } from "./wire.ts";

/**
 * Gives a wire another name, for a cloud that speaks the API of another provider. Encrypted reasoning and item ids of
 * one are unknown to the other, so each gets back only its own.
 */
export function renameWire(wire: Wire, name: string): Wire {
  // The tags are exchanged: data of the cloud becomes the wire's own, and the other provider's data foreign to it.
  const swapTag = (opaque: Json): Json => {
    if (!isRecord(opaque)) return opaque;
    if (opaque.wire === name) return { ...opaque, wire: wire.name };
    return opaque.wire === wire.name ? { ...opaque, wire: name } : opaque;
  };
  const swapPart = <Value extends AssistantPart | Chunk>(part: Value): Value => {
    if (part.type === "opaque") return { ...part, data: swapTag(part.data) };
    return "opaque" in part && part.opaque !== undefined ? { ...part, opaque: swapTag(part.opaque) } : part;
  };
  return {
    ...withConvertedEntries(wire, (entry) =>
      entry.type === "assistant" ? { ...entry, parts: entry.parts.map(swapPart) } : entry,
    ),
    name,
    reader(hosted) {
      const { read, repeated } = wire.reader(hosted);
      return {
        read: (event) => read(event).map(swapPart),
        ...(repeated && {
          repeated: {
            shapes: repeated.shapes,
            read(value, event, chunks) {
              const { length: countBefore } = chunks;
              repeated.read(value, event, chunks);
              for (const chunk of chunks.splice(countBefore)) chunks.push(swapPart(chunk));
            },
          },
        }),
      };
    },
    fromJson: (body, hosted) => wire.fromJson(body, hosted).map(swapPart),
  };
}

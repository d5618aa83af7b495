import type { DeltaBody, FactBody } from "../../kernel/event.ts";
import type { Citation, NumberedFragment } from "../../kernel/history.ts";
import type { Chunk } from "../../kernel/model.ts";
import type { State } from "../../kernel/state.ts";
import { createCitationStream } from "./citation-stream.ts";
import { toCitation } from "./fragments.ts";

/** Filters a model's chunks: citations without a source are removed from the text. */
export type CitationFilter = {
  /** Returns the filtered chunk. Text may be held back and returned with a later chunk. */
  filter(chunk: Chunk): readonly Chunk[];
  /** Returns the citations found since the last call. */
  takeCitations(): readonly DeltaBody[];
  /** Returns the text held back, for a message that was interrupted. */
  flush(): string;
  /** Returns the citations as fields of the finished message. */
  getCitationFields(): { readonly citations?: readonly Citation[] };
  getWarnings(): readonly FactBody[];
};

/** Creates a filter for one message: it removes citations of unknown sources and collects the others. */
export function createCitationFilter({ fragments }: Pick<State, "fragments">): CitationFilter {
  const sources = new Map([...fragments.values()].map((fragment) => [fragment.n, fragment]));
  const cited = new Map<number, NumberedFragment>();
  const unknown = new Set<number>();
  const calls = new Set<number>();
  let newCitations: DeltaBody[] = [];
  const reader = {
    isKnown: (n: number) => sources.has(n),
    onCited(n: number) {
      const fragment = sources.get(n);
      if (!fragment || cited.has(n)) return;
      cited.set(n, fragment);
      newCitations.push({ type: "citation", n, id: fragment.id, source: fragment.source });
    },
    onUnknown: (n: number) => void unknown.add(n),
  };
  let stream = createCitationStream(reader);
  const restart = () => {
    for (const collection of [cited, unknown, calls]) collection.clear();
    newCitations = [];
    stream = createCitationStream(reader);
  };
  /** Whether the chunk ends the current text: another part starts, or the message is finished. */
  const isTextEnd = (chunk: Chunk): boolean => {
    if (chunk.type === "reasoning") return chunk.text !== "" || chunk.opaque !== undefined;
    if (chunk.type !== "call_start" && chunk.type !== "call_delta")
      return chunk.type === "opaque" || chunk.type === "media" || chunk.type === "finish";
    const isNew = !calls.has(chunk.index);
    calls.add(chunk.index);
    return isNew;
  };
  return {
    filter(chunk) {
      if (chunk.type === "restart") restart();
      if (chunk.type === "text") {
        const text = stream.push(chunk.text);
        return [{ ...chunk, text: chunk.opaque === undefined ? text : text + stream.end() }];
      }
      const heldText = isTextEnd(chunk) ? stream.end() : "";
      return heldText ? [{ type: "text", text: heldText }, chunk] : [chunk];
    },
    takeCitations() {
      const taken = newCitations;
      newCitations = [];
      return taken;
    },
    flush: () => stream.end(),
    getCitationFields: () => (cited.size > 0 ? { citations: [...cited.values()].map(toCitation) } : {}),
    getWarnings: () => (unknown.size > 0 ? [warnUnknownSources([...unknown])] : []),
  };
}

const maxNamedSources = 20;

function warnUnknownSources(numbers: readonly number[]): FactBody {
  const named = numbers.slice(0, maxNamedSources).map((n) => `[${n}]`);
  const more = numbers.length > maxNamedSources ? ` and ${numbers.length - maxNamedSources} more` : "";
  const message = `The model cited ${named.join(", ")}${more}, but no such source exists; removed from the text.`;
  return { type: "warning", code: "citation_unknown", message };
}

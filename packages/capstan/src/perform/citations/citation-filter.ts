import type { DeltaBody, FactBody } from "../../event.ts";
import type { Citation, NumberedFragment } from "../../history.ts";
import type { Chunk } from "../../model.ts";
import { toCitation } from "../../state/citations.ts";
import type { State } from "../../state/state.ts";
import { createCitationStream } from "./citation-stream.ts";

/** Stands between a model and its message: what passes has no citation without a source. */
export type CitationFilter = {
  /** The chunk as it may be used; text may be held back, or come with a later chunk. */
  filter(chunk: Chunk): readonly Chunk[];
  /** The citations since it was last asked. */
  startMessage(): readonly DeltaBody[];
  /** What was held back, of a message that was broken off. */
  rest(): string;
  /** For the finished message. */
  found(): { readonly citations?: readonly Citation[] };
  warnings(): readonly FactBody[];
};

/** Creates a filter for one message: it removes citations of unknown sources and collects the others. */
export function createCitationFilter({ fragments }: Pick<State, "fragments">): CitationFilter {
  const sources = new Map([...fragments.values()].map((fragment) => [fragment.n, fragment]));
  const cited = new Map<number, NumberedFragment>();
  const unknown = new Set<number>();
  const calls = new Set<number>();
  let fresh: DeltaBody[] = [];
  const reader = {
    isKnown: (n: number) => sources.has(n),
    onCited(n: number) {
      const fragment = sources.get(n);
      if (!fragment || cited.has(n)) return;
      cited.set(n, fragment);
      fresh.push({ type: "citation", n, id: fragment.id, source: fragment.source });
    },
    onUnknown: (n: number) => void unknown.add(n),
  };
  let stream = createCitationStream(reader);
  const restart = () => {
    for (const kept of [cited, unknown, calls]) kept.clear();
    fresh = [];
    stream = createCitationStream(reader);
  };
  /** Whether the text before it is over: another part begins, or there is no more. */
  const isTextEnd = (chunk: Chunk): boolean => {
    if (chunk.type === "reasoning") return chunk.text !== "" || chunk.opaque !== undefined;
    if (chunk.type !== "call_start" && chunk.type !== "call_delta")
      return chunk.type === "opaque" || chunk.type === "finish";
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
      const held = isTextEnd(chunk) ? stream.end() : "";
      return held ? [{ type: "text", text: held }, chunk] : [chunk];
    },
    startMessage() {
      const told = fresh;
      fresh = [];
      return told;
    },
    rest: () => stream.end(),
    found: () => (cited.size > 0 ? { citations: [...cited.values()].map(toCitation) } : {}),
    warnings: () => (unknown.size > 0 ? [warnUnknownSources([...unknown])] : []),
  };
}

const maxNamedSources = 20;

function warnUnknownSources(numbers: readonly number[]): FactBody {
  const named = numbers.slice(0, maxNamedSources).map((n) => `[${n}]`);
  const more = numbers.length > maxNamedSources ? ` and ${numbers.length - maxNamedSources} more` : "";
  const message = `The model cited ${named.join(", ")}${more}, which no source has: taken out of the text.`;
  return { type: "warning", code: "citation_unknown", message };
}

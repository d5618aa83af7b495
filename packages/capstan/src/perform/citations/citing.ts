import type { DeltaBody, FactBody } from "../../event.ts";
import type { Citation, NumberedFragment } from "../../history.ts";
import type { Chunk } from "../../model.ts";
import { citationOf } from "../../state/citations.ts";
import type { State } from "../../state/state.ts";
import { citationStream } from "./citation-stream.ts";

/** Stands between a model and its message: what passes has no citation without a source. */
export type Citing = {
  /** The chunk as it may be used; text may be held back, or come with a later chunk. */
  pass(chunk: Chunk): readonly Chunk[];
  /** The citations since it was last asked. */
  fresh(): readonly DeltaBody[];
  /** What was held back, of a message that was broken off. */
  rest(): string;
  /** For the finished message. */
  found(): { readonly citations?: readonly Citation[] };
  warnings(): readonly FactBody[];
};

/** Nothing when the run does not cite: the words of the model then pass as they are, at no cost. */
export function citingFor({ fragments, run }: Pick<State, "fragments" | "run">): Citing | undefined {
  const { citations = "auto" } = run?.policy ?? {};
  if (citations === "off" || (citations === "auto" && fragments.size === 0)) return undefined;
  return citing(new Map([...fragments.values()].map((fragment) => [fragment.n, fragment])));
}

function citing(sources: ReadonlyMap<number, NumberedFragment>): Citing {
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
  let stream = citationStream(reader);
  const restart = () => {
    for (const kept of [cited, unknown, calls]) kept.clear();
    fresh = [];
    stream = citationStream(reader);
  };
  /** Whether the text before it is over: another part begins, or there is no more. */
  const endsText = (chunk: Chunk): boolean => {
    if (chunk.type === "reasoning") return chunk.text !== "" || chunk.opaque !== undefined;
    if (chunk.type !== "call_start" && chunk.type !== "call_delta")
      return chunk.type === "opaque" || chunk.type === "finish";
    const isNew = !calls.has(chunk.index);
    calls.add(chunk.index);
    return isNew;
  };
  return {
    pass(chunk) {
      if (chunk.type === "restart") restart();
      if (chunk.type === "text") {
        const text = stream.push(chunk.text);
        return [{ ...chunk, text: chunk.opaque === undefined ? text : text + stream.end() }];
      }
      const held = endsText(chunk) ? stream.end() : "";
      return held ? [{ type: "text", text: held }, chunk] : [chunk];
    },
    fresh() {
      const told = fresh;
      fresh = [];
      return told;
    },
    rest: () => stream.end(),
    found: () => (cited.size > 0 ? { citations: [...cited.values()].map(citationOf) } : {}),
    warnings: () => (unknown.size > 0 ? [unknownSources([...unknown])] : []),
  };
}

const mostNamed = 20;

function unknownSources(numbers: readonly number[]): FactBody {
  const named = numbers.slice(0, mostNamed).map((n) => `[${n}]`);
  const more = numbers.length > mostNamed ? ` and ${numbers.length - mostNamed} more` : "";
  const message = `The model cited ${named.join(", ")}${more}, which no source has: taken out of the text.`;
  return { type: "warning", code: "citation_unknown", message };
}

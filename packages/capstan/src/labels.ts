import type { Json } from "./json.ts";
import type { Reads, Tool } from "./tool.ts";

/** The call that brought untrusted or private data into the conversation. */
export type Source = {
  readonly tool: string;
  readonly turn: number;
  /** The beginning of the call's arguments, as JSON. */
  readonly input: string;
};

/** The untrusted and private sources in the conversation. Folded from the facts, so compaction does not lose them. */
export type Labels = { readonly untrusted: Source[]; readonly private: Source[] };

/** Enough to explain an approval, and bounded for long runs. */
const maxSources = 8;
const maxLabelInput = 200;

export function createLabels(): Labels {
  return { untrusted: [], private: [] };
}

const knownReads: readonly unknown[] = ["public", "private", "untrusted"] satisfies Reads[];

/** Returns the labels of a tool's results; empty for public ones. */
export function getLabels({ reads = ["private"] }: Pick<Tool, "reads">): readonly Reads[] {
  // A tool not made with `defineTool` may declare anything: unknown labels count as untrusted and private.
  if (!Array.isArray(reads) || !reads.every((label) => knownReads.includes(label)))
    return ["untrusted", "private"];
  return reads.filter((label) => label !== "public");
}

export function addLabels(
  labels: Labels,
  reads: readonly Reads[],
  { tool, turn, input }: { readonly tool: string; readonly turn: number; readonly input: Json },
): void {
  for (const label of reads) {
    if (label === "public") continue;
    const sources = labels[label];
    if (sources.length < maxSources)
      sources.push({ tool, turn, input: JSON.stringify(input).slice(0, maxLabelInput).toWellFormed() });
  }
}

/** Returns the labels of third-party tool descriptions, which the model reads before it calls anything. */
export function collectForeignLabels(tools: Iterable<Pick<Tool, "name" | "foreign">>): Labels {
  const labels = createLabels();
  for (const { name, foreign } of tools)
    if (foreign) addLabels(labels, ["untrusted"], { tool: name, turn: 0, input: "its description" });
  return labels;
}

/** Merges two sets of labels, keeping the first sources of each kind. */
export function mergeLabels(left: Labels, right: Labels): Labels {
  const join = (first: readonly Source[], second: readonly Source[]) =>
    [...first, ...second].slice(0, maxSources);
  return {
    untrusted: join(left.untrusted, right.untrusted),
    private: join(left.private, right.private),
  };
}

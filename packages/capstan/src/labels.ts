import type { Json } from "./json.ts";
import type { Reads, Tool } from "./tool.ts";

/** One thing in the conversation that is not to be trusted or not for everybody: which call brought it. */
export type Source = {
  readonly tool: string;
  readonly turn: number;
  /** The beginning of the call's arguments, as JSON. */
  readonly input: string;
};

/** What is in the conversation: folded with the facts, so that nothing that is done to it later loses them. */
export type Labels = { readonly untrusted: Source[]; readonly private: Source[] };

/** The first ones tell enough, and a long run must not keep them all. */
const maxSources = 8;
const maxLabelInput = 200;

export function createLabels(): Labels {
  return { untrusted: [], private: [] };
}

const knownReads: readonly unknown[] = ["public", "private", "untrusted"] satisfies Reads[];

/** What a result of the tool brings along; nothing for what is public. */
export function getLabels({ reads = ["private"] }: Pick<Tool, "reads">): readonly Reads[] {
  // A tool that was not made with `defineTool` may declare anything: what is not understood counts as the worst.
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

/** Of tools whose own descriptions are strangers' words: those are in the conversation before anything is read. */
export function collectForeignLabels(tools: Iterable<Pick<Tool, "name" | "foreign">>): Labels {
  const labels = createLabels();
  for (const { name, foreign } of tools)
    if (foreign) addLabels(labels, ["untrusted"], { tool: name, turn: 0, input: "its description" });
  return labels;
}

/** What was set aside and what has been added since, together. */
export function mergeLabels(left: Labels, right: Labels): Labels {
  const join = (first: readonly Source[], second: readonly Source[]) =>
    [...first, ...second].slice(0, maxSources);
  return {
    untrusted: join(left.untrusted, right.untrusted),
    private: join(left.private, right.private),
  };
}

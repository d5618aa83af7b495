import type { Entry } from "./history.ts";
import type { Json } from "./json.ts";
import type { Reads, Tool } from "./tool.ts";

/**
 * Who wrote a text: the authenticated user of the session; the operator, by instructions, configuration or code; the
 * client application, by context, page state or system messages; or anyone else.
 */
export type Provenance = "user" | "operator" | "application" | "external";

/**
 * Returns who wrote an entry. The words of a model are as trustworthy as the least trustworthy text it had read by then.
 * Only a user's own words can name the target of a call.
 */
export function getProvenance(entry: Entry): Provenance {
  if (entry.type === "result") return entry.reads?.includes("untrusted") ? "external" : "operator";
  return entry.provenance ?? (entry.type === "user" ? "user" : "operator");
}

/** The provenance of a text that a model writes now; undefined if it has read nothing untrusted. */
export function findModelProvenance({ untrusted }: Labels): "application" | "external" | undefined {
  if (untrusted.length === 0) return undefined;
  return untrusted.every(({ provenance }) => provenance === "application") ? "application" : "external";
}

/** The call or the entry that brought untrusted or private data into the conversation. */
export type Source = {
  /** The tool that was called, or the kind of the entry: `application`, `import`, `summary`. */
  readonly tool: string;
  readonly turn: number;
  /** The beginning of the call's arguments, as JSON. */
  readonly input: string;
  /** Default: `external`. */
  readonly provenance?: "application";
};

/** The untrusted and private sources in the conversation. Folded from the facts, so compaction does not lose them. */
export type Labels = { readonly untrusted: Source[]; readonly private: Source[] };

/** Enough to explain an approval, and bounded for long runs. */
const maxSources = 8;
const maxLabelInput = 200;

export function createLabels(): Labels {
  return { untrusted: [], private: [] };
}

/** Whether the source is the description of a tool, not a call. */
export function isDescription({ turn, input }: Source): boolean {
  return turn === 0 && input === JSON.stringify("its description");
}

const knownReads: readonly unknown[] = ["public", "private", "untrusted"] satisfies Reads[];

export function isReads(value: unknown): value is readonly Reads[] {
  return Array.isArray(value) && value.every((label) => knownReads.includes(label));
}

/** Returns the labels of a tool's results; empty for public ones. */
export function getLabels({ reads = ["private"] }: Pick<Tool, "reads">): readonly Reads[] {
  // A tool not made with `defineTool` may declare anything: unknown labels count as untrusted and private.
  if (!isReads(reads)) return ["untrusted", "private"];
  return reads.filter((label) => label !== "public");
}

export function addLabels(
  labels: Labels,
  reads: readonly Reads[],
  { input, ...source }: Omit<Source, "input"> & { readonly input: Json },
): void {
  for (const label of reads) {
    if (label === "public") continue;
    const sources = labels[label];
    // One external source is always kept: the rest may be the application's.
    const isFirstExternal =
      source.provenance === undefined && sources.every(({ provenance }) => provenance === "application");
    if (sources.length < maxSources || isFirstExternal)
      sources.push({ ...source, input: JSON.stringify(input).slice(0, maxLabelInput).toWellFormed() });
  }
}

/** Labels an entry that neither the user nor the operator wrote. */
export function addEntryLabels(labels: Labels, entry: Entry): void {
  const provenance = entry.type === "result" || entry.type === "summary" ? "external" : getProvenance(entry);
  const source = { turn: 0, input: {} };
  if (provenance === "application")
    addLabels(labels, ["untrusted", "private"], { ...source, tool: "application", provenance });
  if (provenance === "external")
    addLabels(labels, ["untrusted", "private"], {
      ...source,
      tool: entry.type === "result" ? entry.name : entry.type === "summary" ? "summary" : "import",
    });
}

/**
 * Returns the labels of third-party tool descriptions, which the model reads before it calls anything. Descriptions from
 * the origin of `called` do not count: whoever wrote them receives that call anyway.
 */
export function collectForeignLabels(
  tools: Iterable<Pick<Tool, "name" | "foreign">>,
  called?: Pick<Tool, "foreign">,
): Labels {
  const labels = createLabels();
  const isOwn = (foreign: Tool["foreign"]) => typeof foreign === "string" && foreign === called?.foreign;
  for (const { name, foreign } of tools)
    if (foreign && !isOwn(foreign))
      addLabels(labels, ["untrusted"], { tool: name, turn: 0, input: "its description" });
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

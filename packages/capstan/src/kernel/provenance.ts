import type { Json } from "../base/json.ts";
import type { Entry, UserEntry } from "./history.ts";
import type { Policy } from "./policy.ts";
import { hasEffect, type Reads, type Tool } from "./tool.ts";

/**
 * Who wrote a text: the authenticated user of the session; the operator, by instructions, configuration or code; the
 * client application, by context, page state or system messages; or anyone else.
 */
export type Provenance = "user" | "operator" | "application" | "external";

/**
 * Returns who wrote an entry. The text of a model is as trustworthy as the least trustworthy text it had read by then.
 * Only a user's own words can name the target of a call.
 */
export function getProvenance(entry: Entry): Provenance {
  if (entry.type === "result") return entry.reads?.includes("untrusted") ? "external" : "operator";
  return entry.provenance ?? (entry.type === "user" ? "user" : "operator");
}

type ContextEntry = UserEntry & { readonly provenance: "application" | "operator" };

/** Whether an entry is a message to the model that the application or the operator added to the user's. */
export function isContext(entry: Entry): entry is ContextEntry {
  if (entry.type !== "user") return false;
  return entry.provenance === "application" || entry.provenance === "operator";
}

/** The provenance of a text that a model writes now; undefined if it has read nothing untrusted. */
export function findModelProvenance({ untrusted }: Labels): "application" | "external" | undefined {
  if (untrusted.length === 0) return undefined;
  return hasExternal(untrusted) ? "external" : "application";
}

export function hasExternal(sources: readonly Source[]): boolean {
  return sources.some(({ provenance }) => provenance === undefined);
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
  /** The server that the tool comes from, if the source is its description. */
  readonly origin?: string;
};

/** The untrusted and private sources in the conversation. Folded from the facts, so compaction does not lose them. */
export type Labels = { readonly untrusted: Source[]; readonly private: Source[] };

/** Enough to explain an approval, and bounded for long runs. */
const maxSources = 8;
const maxLabelInput = 200;

export function createLabels(): Labels {
  return { untrusted: [], private: [] };
}

/** Replaces the arguments in a source that is the description of a tool. */
const descriptionInput = JSON.stringify("its description");

/** Whether the source is the description of a tool, not a call. */
export function isDescription({ turn, input }: Source): boolean {
  return turn === 0 && input === descriptionInput;
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
    if (label === "public" || !hasRoom(labels[label], source)) continue;
    const shownInput = JSON.stringify(input).slice(0, maxLabelInput).toWellFormed();
    addSource(labels[label], { ...source, input: shownInput });
  }
}

/** Adds a source once. The first of each kind is always kept, because the gate treats them differently. */
export function addSource(sources: Source[], source: Source): void {
  const { tool, turn, input } = source;
  const isKnown = (other: Source) => other.tool === tool && other.turn === turn && other.input === input;
  if (isNewKind(sources, source) || (sources.length < maxSources && !sources.some(isKnown)))
    sources.push(source);
}

type SourceKind = Pick<Source, "provenance" | "origin">;

function hasRoom(sources: readonly Source[], kind: SourceKind): boolean {
  return sources.length < maxSources || isNewKind(sources, kind);
}

function isNewKind(sources: readonly Source[], { provenance, origin }: SourceKind): boolean {
  return sources.every((other) => other.provenance !== provenance || other.origin !== origin);
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
 * Returns the third-party tool descriptions among what a model is about to read that the labels do not cover yet: one per
 * origin.
 */
export function findNewDescriptions(
  tools: Iterable<Pick<Tool, "name" | "foreign">>,
  { untrusted }: Labels,
): readonly Source[] {
  const found: Source[] = [];
  for (const { name, foreign } of tools) {
    if (!foreign) continue;
    const origin = typeof foreign === "string" && { origin: foreign };
    const source = { tool: name, turn: 0, input: descriptionInput, ...origin };
    if (isNewKind(untrusted, source) && isNewKind(found, source)) found.push(source);
  }
  return found;
}

/** Returns the labels without the descriptions from the tool's own origin, which receives the call anyway. */
export function withoutOwnDescriptions(labels: Labels, { foreign }: Pick<Tool, "foreign">): Labels {
  if (typeof foreign !== "string") return labels;
  return { ...labels, untrusted: labels.untrusted.filter(({ origin }) => origin !== foreign) };
}

/**
 * Whether a call of the tool would combine untrusted text, private data and a side effect. With `gate: "strict"` the first
 * and the last are enough.
 */
export function breaksRuleOfTwo(
  labels: Labels,
  tool: Pick<Tool, "effects" | "reads">,
  gate: Policy["gate"],
): boolean {
  if (gate === "off" || !hasEffect(tool) || labels.untrusted.length === 0) return false;
  return gate === "strict" || labels.private.length > 0 || getLabels(tool).includes("private");
}

/** Merges two sets of labels, keeping the first sources of each kind. */
export function mergeLabels(left: Labels, right: Labels): Labels {
  const merged = { untrusted: [...left.untrusted], private: [...left.private] };
  for (const source of right.untrusted) addSource(merged.untrusted, source);
  for (const source of right.private) addSource(merged.private, source);
  return merged;
}

/** Lists the kinds of labels that have sources. */
export function listReads(labels: Labels): readonly Exclude<Reads, "public">[] {
  return (["untrusted", "private"] as const).filter((label) => labels[label].length > 0);
}

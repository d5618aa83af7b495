import { quoteUntrusted } from "../../base/escape-text.ts";
import type { Leak } from "../../kernel/call-check.ts";
import { getLabels, isDescription, type Labels, type Source } from "../../kernel/provenance.ts";
import type { Tool } from "../../kernel/tool.ts";
import { isPlainText } from "./named-target.ts";

type SuspiciousCall = {
  readonly labels: Labels;
  readonly tool: Pick<Tool, "name" | "effects" | "reads">;
  readonly target: string | undefined;
};

const maxTargetLength = 120;
const maxNameLength = 64;
const maxInputLength = 80;

/**
 * Says in one sentence what a call would do, to what, and why the user is asked. It is built from labels and arguments
 * only: text of the model or of others appears quoted, escaped and shortened, so it cannot phrase the question.
 */
export function formatGateReason({ labels, tool, target }: SuspiciousCall): string {
  const mayRead = labels.private.length === 0 && getLabels(tool).includes("private");
  const subject = mayRead ? `"${tool.name}", which may read private data,` : `"${tool.name}"`;
  return `${subject} would ${formatAction(tool, target)} after the agent read ${formatContent(labels)}.`;
}

function formatAction({ effects }: SuspiciousCall["tool"], target: string | undefined): string {
  if (!target?.trim()) return effects === "send" ? "send data" : "change something";
  const how = isPlainText(target) ? " in quotation marks" : "";
  const named = `${quoteUntrusted(target, maxTargetLength)}, which you have not named${how},`;
  return effects === "send" ? `send data to ${named}` : `change ${named}`;
}

function formatContent(labels: Labels): string {
  const untrusted = formatSources(labels.untrusted);
  const secret = formatSources(labels.private);
  if (secret === "") return `text from others (${untrusted})`;
  if (secret === untrusted) return `text from others and private data (${untrusted})`;
  return `text from others (${untrusted}) and private data (${secret})`;
}

function formatSources(sources: readonly Source[]): string {
  const origins = sources.slice(0, 2).map(formatOrigin);
  return [...new Set(origins)].join(", ") + (sources.length > 2 ? " and more" : "");
}

/** Lists the private data in the arguments, with the calls it was read with. */
export function formatLeaks(leaks: readonly Leak[]): string {
  const pieces = leaks.map((leak) => `${leak.shown} from ${formatOrigin({ ...leak, input: "" })}`);
  return `The arguments contain private data: ${pieces.join(", ")}.`;
}

/** Entries that are not results of calls. */
const entryOrigins: ReadonlyMap<string, string> = new Map([
  ["application", "context from the application"],
  ["import", "imported, attached or received text"],
  ["summary", "a summary of earlier messages"],
]);

/** Arguments that are one text, such as a URL or a path. */
const onlyValue = /^\{"\w+":"([^"\\]+)"\}$/;

function formatOrigin(source: Source): string {
  const { tool, turn, input, origin } = source;
  const name = quoteUntrusted(tool, maxNameLength);
  if (isDescription(source))
    return origin === undefined
      ? `the description of ${name}`
      : `the tool descriptions of ${quoteUntrusted(origin, maxNameLength)} such as ${name}`;
  if (turn === 0) return entryOrigins.get(tool) ?? `${name} earlier in this conversation`;
  const given = onlyValue.exec(input)?.[1] ?? input;
  const detail = given === "" || given === "{}" ? "" : ` with ${quoteUntrusted(given, maxInputLength)}`;
  return `${name}${detail} in turn ${turn}`;
}

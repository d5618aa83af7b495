import { plainText } from "../history.ts";
import type { RunState, ToolCallRecord } from "../state.ts";

const longestPreview = 100;
const mostListed = 50;

/** What a person gets when the run had to stop: why, what was found, and what they can do. */
export function bestEffort(run: RunState): string {
  const paragraphs = [
    `I could not finish this: ${run.limit?.message ?? "a limit was reached."}`,
    ...triedSoFar(run),
  ];
  if (run.lastText) paragraphs.push(`My last note was: ${run.lastText}`);
  const found = run.toolCalls.some((call) => call.status === "ok");
  paragraphs.push(
    found
      ? "The results above are what I have so far; ask me to go on from there, or narrow the question."
      : "I have no results to build an answer on; please narrow the question or try again later.",
  );
  return paragraphs.join("\n\n");
}

/** One line for each tool used; no paragraph at all when there was none. */
export function triedSoFar(run: RunState): string[] {
  const used = run.toolCalls.filter((call) => call.status === "ok" || call.status === "error");
  if (used.length === 0) return [];
  const lines = used
    .slice(0, mostListed)
    .map((call) => `- Used ${call.name}${call.status === "error" ? " (failed)" : ""}: ${preview(call)}`);
  if (used.length > mostListed) lines.push(`- and ${used.length - mostListed} more`);
  return [`What I found so far:\n${lines.join("\n")}`];
}

export function preview(call: ToolCallRecord): string {
  const text = plainText(call.result).replace(/\s+/g, " ").trim();
  return text.length > longestPreview ? `${text.slice(0, longestPreview).toWellFormed()}…` : text;
}

export function clarification(run: RunState): string {
  const tools = [...new Set(run.toolCalls.map((call) => call.name))];
  const tried = tools.length > 0 ? ` I tried ${tools.join(", ")}, but that did not settle it.` : "";
  return `I'm sorry, I could not find a good answer yet.${tried} Could you tell me a little more about what you are looking for?`;
}

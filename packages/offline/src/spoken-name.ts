import type { ToolSpec } from "capstan";
import { verbs } from "./meanings.ts";
import { isDeedWord } from "./word-score.ts";
import { inWords, nameParts } from "./words.ts";

/** So many names that begin alike are those of one server. */
const leastShared = 3;

/** What a tool is called when people are told of it: without the name of the server that it comes from. */
export function spokenName(name: string, tools: readonly ToolSpec[]): string {
  const own = name.split("__").at(-1) || name;
  if (own !== name) return inWords(own);
  const parts = nameParts(name).map((part) => part.toLowerCase());
  const others = tools.map((tool) => nameParts(tool.name).map((part) => part.toLowerCase()));
  let from = 0;
  while (from < parts.length - 1) {
    const shared = others.filter((other) => parts.slice(0, from + 1).every((part, at) => other[at] === part));
    const part = parts[from] ?? "";
    // "Search letters" and "search people" have a verb in common, and no server.
    if (shared.length < leastShared || verbs.has(part) || isDeedWord(part) || part === "get") break;
    from++;
  }
  return parts.slice(from).join(" ");
}

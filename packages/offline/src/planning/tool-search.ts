import type { Entry, ModelRequest } from "capstan";
import type { Call } from "../dialog/call-records.ts";
import { getLastUtterance } from "../dialog/parse-intents.ts";

const searchName = "search_tools";
/** They work on the conversation, so that no request of the user is about them. */
const ownTools: readonly string[] = [searchName, "read_result"];

/** Removes the search for tools from a request, so that the rules only match what the user wants. */
export function withoutSearch(request: ModelRequest): ModelRequest {
  const { tools, history } = request;
  if (!tools.some(({ name }) => name === searchName)) return request;
  return {
    ...request,
    tools: tools.filter(({ name }) => !ownTools.includes(name)),
    history: removeCalls(history, searchName),
  };
}

/** Removes the calls of a tool and their results. */
export function removeCalls(history: readonly Entry[], name: string): readonly Entry[] {
  return history.flatMap((entry): readonly Entry[] => {
    if (entry.type === "result") return entry.name === name ? [] : [entry];
    if (entry.type !== "assistant") return [entry];
    const parts = entry.parts.filter((part) => part.type !== "call" || part.name !== name);
    if (parts.length === entry.parts.length) return [entry];
    return parts.some(({ type }) => type !== "reasoning") ? [{ ...entry, parts }] : [];
  });
}

/** Searches for what the user said, once per message and before any other call. */
export function planSearch({ tools, history, toolChoice }: ModelRequest): Call | undefined {
  if (toolChoice === "none" || history.at(-1)?.type !== "user") return undefined;
  if (!tools.some(({ name }) => name === searchName)) return undefined;
  return { name: searchName, input: { query: getLastUtterance(history).text } };
}

import { type AssistantEntry, getCalls } from "../../history.ts";
import { shortHash, type ToolNames, toolNames } from "../wire.ts";
import type { ChatQuirks } from "./quirks.ts";

const longestId = 40;

export const chatToolNames: ToolNames = toolNames(/^[a-zA-Z0-9_-]{1,64}$/, /[^a-zA-Z0-9_-]/g);

/** The id under which each call of a message, by our id of it, is known to the server: different for each. */
export function wireIds(entry: AssistantEntry, { callIds }: ChatQuirks): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  for (const { id, providerId } of getCalls(entry)) {
    const given = shaped(providerId || id, callIds);
    const free = taken.has(given) ? shaped(id, callIds) : given;
    taken.add(free);
    ids.set(id, free);
  }
  return ids;
}

/** An id in the form that the server takes, for calls that another provider or this library named. */
export function shaped(id: string, form: ChatQuirks["callIds"]): string {
  if (form === "nine") return /^[a-zA-Z0-9]{9}$/.test(id) ? id : shortHash(id).slice(-9);
  return id.length > longestId ? `${id.slice(0, longestId - 10)}_${shortHash(id).slice(-9)}` : id;
}

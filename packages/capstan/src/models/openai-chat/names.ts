import { type AssistantEntry, getCalls } from "../../kernel/history.ts";
import { createToolNames, getOwnId, hashShort, type ToolNames } from "../wire.ts";
import type { ChatQuirks } from "./quirks.ts";

const maxIdLength = 40;

export const chatToolNames: ToolNames = createToolNames(/^[a-zA-Z0-9_-]{1,64}$/, /[^a-zA-Z0-9_-]/g);

/** The wire name of a server and its quirks. */
export type Server = { readonly name: string; readonly quirks: ChatQuirks };

/** Maps our call ids to the server's; the result has no duplicates. */
export function assignWireIds(entry: AssistantEntry, server: Server): ReadonlyMap<string, string> {
  const { callIds } = server.quirks;
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  for (const { id, providerId, opaque } of getCalls(entry)) {
    const wireId = getOwnId(server.name, opaque) ?? formatCallId(providerId || id, callIds);
    const uniqueId = taken.has(wireId) ? formatCallId(id, callIds) : wireId;
    taken.add(uniqueId);
    ids.set(id, uniqueId);
  }
  return ids;
}

/** Converts an id of another provider or of this library to a form that the server accepts. */
export function formatCallId(id: string, form: ChatQuirks["callIds"]): string {
  if (form === "nine") return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashShort(id).slice(-9);
  return id.length > maxIdLength ? `${id.slice(0, maxIdLength - 10)}_${hashShort(id).slice(-9)}` : id;
}

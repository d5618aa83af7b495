import { isRecord, type Json } from "../base/json.ts";
import { type AssistantEntry, type AssistantPart, type Entry, getCalls } from "../kernel/history.ts";

/** The same object each time, because a wire keeps the text of an entry. */
const renamedEntries = new WeakMap<AssistantEntry, AssistantEntry>();

/**
 * Some providers number the calls of each answer from the start, and then reject the history because an id occurs twice.
 * A call whose provider's id occurs in an earlier message gets our id, which is unique in the session.
 */
export function withDistinctCallIds(history: readonly Entry[]): readonly Entry[] {
  const used = new Set<string>();
  let distinct: Entry[] | undefined;
  for (const [index, entry] of history.entries()) {
    const calls = entry.type === "assistant" ? getCalls(entry) : [];
    if (entry.type === "assistant" && calls.some(({ providerId }) => providerId && used.has(providerId))) {
      distinct ??= [...history];
      distinct[index] = renameCalls(entry, used);
    }
    for (const { id, providerId = id } of calls) used.add(providerId);
  }
  return distinct ?? history;
}

function renameCalls(entry: AssistantEntry, used: ReadonlySet<string>): AssistantEntry {
  const known = renamedEntries.get(entry);
  if (known) return known;
  const renamed = { ...entry, parts: entry.parts.map((part) => renameCall(part, used)) };
  renamedEntries.set(entry, renamed);
  return renamed;
}

function renameCall(part: AssistantPart, used: ReadonlySet<string>): AssistantPart {
  if (part.type !== "call" || !part.providerId || !used.has(part.providerId)) return part;
  const { providerId, opaque, ...call } = part;
  return { ...call, ...(opaque !== undefined && { opaque: withoutId(opaque, providerId) }) };
}

/** Removes the provider's id from the data that a wire has tagged. */
function withoutId(opaque: Json, providerId: string): Json {
  if (!isRecord(opaque) || !isRecord(opaque.data)) return opaque;
  const members = Object.entries(opaque.data).filter(([, value]) => value !== providerId);
  return { ...opaque, data: Object.fromEntries(members) } as Json;
}

import type { Json } from "../base/json.ts";
import type { Fact, UnplacedFact } from "../kernel/event.ts";

/** New ids by old id. Ids not listed stay the same. */
export type NewIds = {
  readonly sessionId: string;
  readonly runIds: ReadonlyMap<string, string>;
  readonly handles: ReadonlyMap<string, string>;
};

/** Returns the fact with the ids of the copied session. Call ids stay: they are unique within a session. */
export function withNewIds(fact: Fact, { sessionId, runIds, handles }: NewIds): UnplacedFact {
  const { seq: _, ...rest } = fact;
  const runId = runIds.get(fact.runId) ?? fact.runId;
  const hasRunId = fact.type !== "tool_call_start" && fact.type !== "tool_call_result";
  const id =
    hasRunId && fact.id.startsWith(`${fact.runId}/`) ? runId + fact.id.slice(fact.runId.length) : fact.id;
  const { parentRunId } = fact;
  const parent = parentRunId !== undefined && { parentRunId: runIds.get(parentRunId) ?? parentRunId };
  return { ...replaceHandles(rest, handles), sessionId, runId, id, ...parent };
}

/** Handles also appear in text shown to the model and in arguments of its calls, so every string is searched. */
function replaceHandles<Content extends object>(
  content: Content,
  handles: ReadonlyMap<string, string>,
): Content {
  const renamed = [...handles].filter(([old, name]) => old !== name).map(([old]) => old);
  if (renamed.length === 0) return content;
  const names = renamed.map((name) => name.replaceAll(/[^\w]/g, "\\$&")).join("|");
  const pattern = new RegExp(`(?<![\\w-])(?:${names})(?![\\w-])`, "g");
  const replace = (text: string) => text.replace(pattern, (name) => handles.get(name) ?? name);
  return mapTexts(content as Json, replace) as Content;
}

function mapTexts(value: Json, replace: (text: string) => string): Json {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, replace));
  if (typeof value !== "object" || value === null) return value;
  // `Object.fromEntries` keeps a `__proto__` key as an own property.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapTexts(member, replace)]));
}

import type { Fact, UnplacedFact } from "../event.ts";
import type { Json } from "../json.ts";

/** New names of things, by their old ones; what is not here keeps its name. */
export type Renaming = {
  readonly sessionId: string;
  readonly runIds: ReadonlyMap<string, string>;
  readonly handles: ReadonlyMap<string, string>;
};

/** A fact as it stands in a copy of its session. Call ids stay: they are unique within a session. */
export function renamedFact(fact: Fact, { sessionId, runIds, handles }: Renaming): UnplacedFact {
  const { seq: _, ...rest } = fact;
  const runId = runIds.get(fact.runId) ?? fact.runId;
  const isOwnId = fact.type !== "tool_call_start" && fact.type !== "tool_call_result";
  const id =
    isOwnId && fact.id.startsWith(`${fact.runId}/`) ? runId + fact.id.slice(fact.runId.length) : fact.id;
  const { parentRunId } = fact;
  const parent = parentRunId !== undefined && { parentRunId: runIds.get(parentRunId) ?? parentRunId };
  return { ...withHandles(rest, handles), sessionId, runId, id, ...parent };
}

/** A handle is also in the words that the model was shown, and in those it asks for the rest with. */
function withHandles<Content extends object>(
  content: Content,
  handles: ReadonlyMap<string, string>,
): Content {
  const changed = [...handles].filter(([old, name]) => old !== name).map(([old]) => old);
  if (changed.length === 0) return content;
  const names = changed.map((name) => name.replaceAll(/[^\w]/g, "\\$&")).join("|");
  const pattern = new RegExp(`(?<![\\w-])(?:${names})(?![\\w-])`, "g");
  const replace = (text: string) => text.replace(pattern, (name) => handles.get(name) ?? name);
  return withTexts(content as Json, replace) as Content;
}

function withTexts(value: Json, replace: (text: string) => string): Json {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((item) => withTexts(item, replace));
  if (typeof value !== "object" || value === null) return value;
  // From entries, so that a key `__proto__` stays a key.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withTexts(member, replace)]));
}

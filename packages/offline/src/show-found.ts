import type { ToolSpec } from "capstan";
import { isNew } from "./done-calls.ts";
import { dataOf, itemsIn } from "./known-results.ts";
import type { Situation, Step } from "./plan-step.ts";
import { type Property, propertiesOf } from "./properties.ts";
import { keyFor, wrapped } from "./resolve-reference.ts";
import { isSearch } from "./search-for.ts";
import { nameWords } from "./words.ts";

/** Whoever asks where something is wants to see it: the first thing that a search found is shown, if a tool shows things. */
export function showFound({ request: { tools }, done, meaning }: Situation): Step | undefined {
  if (!/\bwhere|\bnearest|\bclosest/iu.test(meaning.text)) return undefined;
  const last = done.at(-1);
  const search = tools.find(({ name }) => name === last?.call.name);
  if (last?.result?.status !== "ok" || !search || !isSearch(search)) return undefined;
  const made = done.map(({ call }) => call);
  const items = itemsIn(dataOf(last.result));
  for (const tool of tools) {
    const property = shownBy(tool);
    const key = property && keyFor(property, items);
    const id = key === undefined ? undefined : items[0]?.[key];
    if (!property || id === undefined) continue;
    const call = { name: tool.name, input: { [property.name]: wrapped(id, property) } };
    if (isNew(call, made)) return { type: "call", calls: [call], why: `${tool.name} shows where it is.` };
  }
  return undefined;
}

/** The one thing that a tool needs to show it. */
function shownBy(tool: ToolSpec): Property | undefined {
  if (!nameWords(tool.name).some((part) => /^(?:show|display|highlight|focus)$/u.test(part)))
    return undefined;
  const required = propertiesOf(tool).filter((property) => property.required);
  const [only] = required;
  return required.length === 1 && only?.isReference && only.type !== "array" ? only : undefined;
}

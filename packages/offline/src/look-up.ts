import { isFiller, verbs } from "./meanings.ts";
import type { Situation, Step } from "./plan-step.ts";
import { propertiesOf } from "./properties.ts";
import { onlyPointsOn } from "./said-anew.ts";
import { isSearch, searchFor } from "./search-for.ts";
import { takesAway } from "./taking-away.ts";
import { wordsOf } from "./words.ts";

/** Nothing but the name of a thing, such as "coffee": whoever says it wants it searched for. */
export function lookUp({ request: { tools }, done, meaning, scene }: Situation): Step | undefined {
  const { text, wishes } = meaning;
  const words = wordsOf(text);
  const isThing = words.every(
    (word) => /^\p{L}{4,}$/u.test(word.raw) && !isFiller(word) && !verbs.has(word.stem),
  );
  if (
    !isThing ||
    onlyPointsOn(text) ||
    takesAway(words) ||
    words.length === 0 ||
    words.length > 2 ||
    text.includes("?")
  )
    return undefined;
  const tool = tools.find(isSearch);
  const [property] = tool ? propertiesOf(tool) : [];
  if (!tool || !property || done.length > 0 || wishes.length > 0) return undefined;
  const call = searchFor({ phrase: text.trim(), property, tool }, [tool], scene);
  return call && { type: "call", calls: [call], why: `${tool.name} may find it.` };
}

import type { Example, TemplateMatch } from "./match-template.ts";
import { isFiller, likeness } from "./meanings.ts";
import { isPointer } from "./refer-back.ts";
import { onlyTakesAway, takesAway, verbOf } from "./taking-away.ts";
import type { ToolWords, Vocabulary } from "./vocabulary.ts";
import { joined, type Word } from "./words.ts";

/**
 * "Delete it", "remove the first letter": an example that takes one thing away, with the pointer in the place of its
 * slot. Not where several tools have such examples: nobody could tell which of them is meant.
 */
export function pointedExample(
  words: readonly Word[],
  known: ToolWords,
  { tools }: Vocabulary,
): (Example & TemplateMatch) | undefined {
  if (!takesAway(words)) return undefined;
  const verb = verbOf(words)?.stem ?? "";
  const example = takingOne(known);
  const isSame = example?.pieces.some((piece) => "stem" in piece && likeness(piece.stem, verb) > 0);
  const slot = example && slotsIn(example)[0];
  const said = words.slice(words.findIndex((word) => !isFiller(word)) + 1);
  const rest = said.filter(({ stem }) => !known.strong.has(stem));
  const isPointing = rest.every((word) => isPointer(word) || isFiller(word)) && rest.some(isPointer);
  if (!example || !isSame || slot === undefined || !isPointing) return undefined;
  const isNamed = rest.length < said.length;
  // Of a tool that can also add, it has to be said what is to go.
  if (!isNamed && !onlyTakesAway(known)) return undefined;
  if (!isNamed && tools.some((other) => other !== known && takingOne(other))) return undefined;
  return { ...example, slots: new Map([[slot, joined(rest)]]), said: 0.5, closeness: 0.5 };
}

const slotsIn = ({ pieces }: Example): string[] =>
  pieces.flatMap((piece) => ("slot" in piece ? piece.slot : []));

/** The example by which a tool takes away one thing that has an id. */
const takingOne = ({ examples, properties }: ToolWords): Example | undefined =>
  examples.find((example) => {
    const [slot, ...others] = slotsIn(example);
    const isReference = properties.some((property) => property.name === slot && property.isReference);
    return example.isTaking && isReference && others.length === 0;
  });

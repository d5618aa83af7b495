import type { ToolSpec } from "capstan";
import { type Example, examplesOf, type SlotRules } from "./match-template.ts";
import { fillers, likeness, slip, synonymsOf } from "./meanings.ts";
import { type Property, propertiesOf } from "./properties.ts";
import { slotRules } from "./read-value.ts";
import { exampleTakesAway } from "./taking-away.ts";
import { nameWords, wordsOf } from "./words.ts";

/** The words of one tool, and how much each of them says about it. */
export type ToolWords = {
  readonly tool: ToolSpec;
  readonly name: readonly string[];
  readonly properties: readonly Property[];
  readonly examples: readonly (Example & { readonly rules: SlotRules; readonly isTaking: boolean })[];
  /** Of its name: a strong sign. */
  readonly strong: ReadonlySet<string>;
  /** Of the values that its arguments may have. */
  readonly values: ReadonlySet<string>;
  /** Of its description, its examples and the names of its arguments. */
  readonly weak: ReadonlySet<string>;
};

export type Vocabulary = {
  readonly tools: readonly ToolWords[];
  /** How many tools have the word in their name. */
  readonly sharers: ReadonlyMap<string, number>;
  /** The words of all tools that mean about the same as this one. */
  readonly like: (stem: string) => ReadonlyMap<string, number>;
};

/** The tool that every agent with handoffs has. Whom to hand over to is a question of its own. */
export const handoffName = "handoff";

const vocabularies = new WeakMap<readonly ToolSpec[], Vocabulary>();
const wordsOfTool = new WeakMap<ToolSpec, ToolWords>();

/** The words of the tools. Words are compared by their first letter, so that many tools do not take long. */
export function vocabularyOf(tools: readonly ToolSpec[]): Vocabulary {
  const known = vocabularies.get(tools) ?? readWords(tools.filter(({ name }) => name !== handoffName));
  vocabularies.set(tools, known);
  return known;
}

function readWords(tools: readonly ToolSpec[]): Vocabulary {
  const read = tools.map((tool) => {
    const words = wordsOfTool.get(tool) ?? toolWords(tool);
    wordsOfTool.set(tool, words);
    return words;
  });
  const sharers = new Map<string, number>();
  for (const { strong } of read) for (const stem of strong) sharers.set(stem, (sharers.get(stem) ?? 0) + 1);
  const index = indexOf(read);
  const known = new Map<string, ReadonlyMap<string, number>>();
  const like = (stem: string) => {
    const found = known.get(stem) ?? alike(stem, index);
    known.set(stem, found);
    return found;
  };
  return { tools: read, sharers, like };
}

/** The words of all tools, by themselves and by their first letter. */
type Index = { readonly all: ReadonlySet<string>; readonly byLetter: ReadonlyMap<string, readonly string[]> };

function indexOf(tools: readonly ToolWords[]): Index {
  const all = new Set(tools.flatMap(({ strong, values, weak }) => [...strong, ...values, ...weak]));
  return { all, byLetter: Map.groupBy(all, (stem) => stem.charAt(0)) };
}

function alike(stem: string, { all, byLetter }: Index): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const other of [...synonymsOf(stem), ...(byLetter.get(stem.charAt(0)) ?? [])]) {
    const how = all.has(other) ? likeness(stem, other) : 0;
    // A word that is there as it is was not meant to be another one.
    if (how > 0 && !(how === slip && all.has(stem))) found.set(other, how);
  }
  return found;
}

function toolWords(tool: ToolSpec): ToolWords {
  const properties = propertiesOf(tool);
  const name = nameWords(tool.name);
  const examples = examplesOf(tool).map((example) => ({
    ...example,
    rules: slotRules(properties, example.input, name),
    isTaking: exampleTakesAway(example),
  }));
  const said = examples.flatMap(({ phrase }) => stemsIn(phrase.replace(/\{[^}]*\}/gu, " ")));
  return {
    tool,
    name,
    properties,
    examples,
    strong: new Set(name.filter((stem) => !fillers.has(stem))),
    values: new Set(
      properties.flatMap(({ choices }) => choices.flatMap((choice) => nameWords(String(choice)))),
    ),
    weak: new Set([
      ...stemsIn(tool.description),
      ...said,
      ...properties.flatMap((property) => nameWords(property.name)),
    ]),
  };
}

const stemsIn = (text: string): string[] =>
  wordsOf(text)
    .map(({ stem }) => stem)
    .filter((stem) => !fillers.has(stem));

import { isRecord, type Json, type ToolSpec } from "capstan";
import { fillers } from "../language/synonyms.ts";
import { tokenize } from "../language/words.ts";

/** An example of a tool: a phrase with `{slots}` and the input it means. */
export type Example = {
  readonly phrase: string;
  readonly input: { readonly [key: string]: Json };
  readonly pieces: readonly Piece[];
};

/** A slot, a required word, or an optional word. */
export type Piece = { readonly slot: string } | { readonly stem: string; readonly isOptional: boolean };

export function parseExamples(tool: ToolSpec): Example[] {
  const examples: unknown = Reflect.get(tool.input, "examples");
  if (!Array.isArray(examples)) return [];
  return examples.filter(isRecord).flatMap(({ phrase, input }) => {
    if (typeof phrase !== "string") return [];
    return [
      { phrase, input: isRecord(input) ? (input as Example["input"]) : {}, pieces: parsePieces(phrase) },
    ];
  });
}

const optionalWords = new Set(
  "a an the is are be was were do does did i me my you your please there of some any all that it can could".split(
    " ",
  ),
);
export const uncountedWords: ReadonlySet<string> = new Set("a an the of".split(" "));

function parsePieces(phrase: string): Piece[] {
  const words = phrase
    .replace(/\{([^}]*)\}/gu, " {$1} ")
    .split(/(\{[^}]*\})/u)
    .flatMap((part) => (part.startsWith("{") ? [part] : tokenize(part).map(({ stem }) => stem)));
  // If a template consists of function words only, they are required.
  const hasTopic = words.some((word) => !word.startsWith("{") && !fillers.has(word));
  return words.map((word, at) => {
    if (word.startsWith("{")) return { slot: word.slice(1, -1) };
    // Only "of" separates two slots in "{property} of {item}".
    const isSeparator = word === "of" && words[at - 1]?.startsWith("{") === true;
    const isOptional = uncountedWords.has(word) || (hasTopic && optionalWords.has(word));
    return { stem: word, isOptional: isOptional && !isSeparator };
  });
}

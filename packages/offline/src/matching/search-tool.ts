import type { ToolSpec } from "capstan";
import { toNameStems } from "../language/words.ts";
import { parseExamples } from "./parse-examples.ts";
import { getProperties } from "./properties.ts";

export const isSearchTool = ({ name }: ToolSpec): boolean =>
  toNameStems(name).some((part) => /^(?:search|find|lookup|query)$/u.test(part));

/** The only required argument of a search tool, if it is a text. */
export function findQueryName(tool: ToolSpec): string | undefined {
  const [only, ...others] = getProperties(tool).filter(({ required }) => required);
  return isSearchTool(tool) && only?.type === "string" && others.length === 0 ? only.name : undefined;
}

/** True if an example of a search tool is nothing but its text, so that it searches for anything. */
export const takesAnything = (tool: ToolSpec): boolean =>
  parseExamples(tool).some(({ phrase }) => phrase.trim() === `{${findQueryName(tool)}}`);

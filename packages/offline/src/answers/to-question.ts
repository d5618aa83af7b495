import type { CallPart, ToolSpec } from "capstan";
import { parseIntents } from "../dialog/parse-intents.ts";
import { stripGreeting } from "../language/clauses.ts";
import { isQuestion } from "../language/removal.ts";
import { tokenize, toNameStems } from "../language/words.ts";
import { hasTemplateMatch } from "../matching/match-tool.ts";
import { getProperties } from "../matching/properties.ts";
import { isSearchTool } from "../matching/search-tool.ts";
import type { Question } from "./cite-sources.ts";
import { listTopicStems } from "./relevance.ts";

/** A question has to be answered; "find …" and "compare …" ask for what there is. */
export function toQuestion({ name, input }: CallPart, text: string, tools: readonly ToolSpec[]): Question {
  const tool = tools.find((candidate) => candidate.name === name);
  // Other texts, such as a date, restrict the results; the sources may omit them.
  const required = tool ? getProperties(tool).filter((property) => property.required) : [];
  const texts = Object.entries(input).flatMap(([key, value]) =>
    typeof value === "string" && (!tool || required.some((property) => property.name === key)) ? value : [],
  );
  const words = tokenize(stripGreeting(text));
  const topic = texts.join(" ") || text;
  const isSearch = parseIntents(text, tools).some(({ match }) => hasTemplateMatch(match));
  const isTask = /^(?:compare|contrast|explain|describe|summari[sz]e)$/u.test(words[0]?.stem ?? "");
  const isAsked = !(isSearch || isTask) || isQuestion(words) || /\?\s*$/u.test(text);
  // "What did the last letter say" is about any letter.
  const isAny = listTopicStems(topic).every((stem) => toNameStems(name).includes(stem));
  return { topic, text, isStrict: isAsked && !isAny && tool !== undefined && isSearchTool(tool) };
}

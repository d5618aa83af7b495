import { type Entry, type Fragment, type ModelRequest, type ResultEntry, toPlainText } from "capstan";
import { extractItems, getData, getItemName } from "../dialog/collect-results.ts";
import {
  asksForNumber,
  createJudge,
  filterRelevant,
  listTopicStems,
  numberPattern,
  type RelevanceJudge,
  type Source,
} from "./relevance.ts";

/** The citable sources, with the numbers of the results that list them, or else in the order of the results. */
export function collectSources({ history }: Pick<ModelRequest, "history">): Source[] {
  const seen = new Set<string>();
  return history
    .flatMap((entry) => (entry.type === "result" ? (entry.contexts ?? []) : []))
    .filter(({ id }) => !seen.has(id) && seen.add(id))
    .map(({ source: { title, number }, content }, index) => ({
      number: typeof number === "number" ? number : index + 1,
      title,
      content,
    }));
}

const sourceList = /(?:^|\n\n)Sources[^\n]*\n<sources>\n((?:(?!<\/sources>).*\n)*)<\/sources>$/u;

/** Takes the list of sources out of the results that have passages. Others are not read: a history may be long. */
export function splitSourceLists(history: readonly Entry[]): Entry[] {
  return history.map((entry) => (entry.type === "result" && entry.contexts ? splitSourceList(entry) : entry));
}

/** Separates the text of the tool from the list of its passages, which have their numbers in it. */
export function splitSourceList(result: ResultEntry): ResultEntry {
  const { content } = result;
  const [list, listed = ""] = (typeof content === "string" && sourceList.exec(content)) || [];
  if (list === undefined) return result;
  return { ...result, content: content.slice(0, -list.length) as string, contexts: parseSources(listed) };
}

/** A source without a text is a passage of the result itself, or of one that was shortened: there is nothing to quote. */
function parseSources(listed: string): Fragment[] {
  const found = listed.matchAll(/^\[(\d+)\] (.*)((?:\n> .*)+)/gmu);
  return [...found].map(([, number = "", title = "", quoted = ""]) => ({
    id: `source ${number}`,
    content: quoted.replace(/^> /gmu, "").trim(),
    source: { title: title.replace(/ \(\S+\)$/u, ""), number: Number(number) },
  }));
}

/** The sources that a result contains, matched by its fragments or else by the names in its data. */
export function filterSources(result: ResultEntry, sources: readonly Source[]): Source[] {
  if (result.contexts)
    return sources.filter(({ title, content }) =>
      result.contexts?.some((found) => title === found.source.title && isSameContent(content, found.content)),
    );
  const names = extractItems(getData(result)).flatMap((item) => getItemName(item) ?? []);
  const text = toPlainText(result.content);
  const isShown = (content: string) => content.length > 20 && text.includes(content.slice(0, 100));
  return sources.filter(
    ({ title, content }) => names.some((name) => title.startsWith(name)) || isShown(content),
  );
}

/** The list may truncate long content. */
const isSameContent = (listed: string, found: string): boolean =>
  found.trim().replace(/\s+/gu, " ").startsWith(listed.replace(/ …$/u, "").replace(/\s+/gu, " "));

const maxCited = 5;
const maxPassageCharacters = 400;

export type Question = {
  /** What was searched for. */
  readonly topic: string;
  /** What the user wrote. */
  readonly text: string;
  /** True if the sources have to answer it, false if the user wants to see what there is. */
  readonly isStrict: boolean;
};

/** The passages of the most relevant sources for a question, each with its citation number. */
export function citeSources({ topic, text: asked, isStrict }: Question, all: readonly Source[]): string {
  const sources = isStrict ? filterRelevant(topic, all) : all;
  const judge = createJudge(listTopicStems(topic), sources);
  const isNumeric = isStrict && asksForNumber(asked);
  const ranked = sources
    .map((source) => ({ source, worth: judge(`${source.title} ${source.content}`) }))
    .sort(
      (left, right) => right.worth.weight - left.worth.weight || left.source.number - right.source.number,
    );
  const minWeight = (ranked[0]?.worth.weight ?? 0) / 4;
  const close = ranked.filter(({ worth }) => worth.weight >= minWeight).slice(0, maxCited);
  const passages = close.flatMap(({ source }) => {
    const text = selectPassage(source, judge, isNumeric);
    return text === "" ? [] : [{ source, text }];
  });
  return passages
    .sort((left, right) => left.source.number - right.source.number)
    .map(({ source, text }) => {
      const isTitled = passages.length > 1 || judge(source.title).hits > judge(text).hits;
      return `${passages.length > 1 ? "- " : ""}${isTitled ? `${source.title}: ` : ""}${text} [${source.number}]`;
    })
    .join("\n");
}

/**
 * The most relevant sentences of a source, only those with a number if one is wanted. Prefers its first sentence if the
 * title matches the question.
 */
function selectPassage({ title, content }: Source, judge: RelevanceJudge, isNumeric: boolean): string {
  const sentences = splitProse(content);
  const windows = sentences.map((sentence, at) => {
    const next = sentences[at + 1];
    const text =
      next !== undefined && sentence.length + next.length < maxPassageCharacters
        ? `${sentence} ${next}`
        : sentence;
    const own = judge(sentence).weight;
    const lead = at === 0 && own > 0 ? judge(title).weight : own / 10;
    return { text, worth: judge(text).weight + lead };
  });
  const fitting = windows.filter(({ text }) => !isNumeric || numberPattern.test(text));
  const best = fitting.toSorted((left, right) => right.worth - left.worth)[0]?.text ?? "";
  return best.length > maxPassageCharacters
    ? `${best.slice(0, maxPassageCharacters - 1).toWellFormed()}…`
    : best;
}

/**
 * Splits Markdown into quotable sentences. Skips code, headings and rows of links; a table row becomes one sentence.
 */
export function splitProse(markdown: string): string[] {
  return markdown
    .replace(/^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gmu, "\n")
    .replace(/<!--[\s\S]*?-->/gu, "")
    .split(/\n{2,}|\n(?=\s*(?:[-*+|>#]|\d+\.)\s?)/u)
    .map((block) => stripMarkup(block))
    .filter((block) => !isNavigation(block))
    .flatMap((block) => block.split(/(?<=[.!?])\s+(?=[\p{Lu}\p{N}`“"'([])/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\p{L}{2}.*\s/u.test(sentence));
}

function stripMarkup(block: string): string {
  const plain = block
    .replace(/^\s*(?:[-*+>]|#{1,6}|\d+\.)\s+/gmu, "")
    .replace(/\s+/gu, " ")
    .trim();
  if (!plain.startsWith("|")) return plain;
  const cells = plain.split(/(?<!\\)\|/u).map((cell) => cell.trim());
  return cells.every((cell) => /^:?-*:?$/u.test(cell)) ? "" : cells.filter((cell) => cell !== "").join(": ");
}

/** True for rows of links such as "Docs • Chat • Blog". */
const isNavigation = (block: string): boolean =>
  (block.match(/ [|•·] /gu) ?? []).length >= 2 && !/[.!?]/u.test(block);

import { type ModelRequest, type ResultEntry, toPlainText } from "capstan";
import { dataOf, itemsIn, nameOf } from "./known-results.ts";
import { isFiller, likeness } from "./meanings.ts";
import { proseOf } from "./prose.ts";
import { nameWords, wordsOf } from "./words.ts";

type Source = { readonly number: number; readonly title: string; readonly content: string };

/** What can be cited, as the instructions number it. Without such a list, in the order of the results. */
export function sourcesOf({ instructions, history }: ModelRequest): Source[] {
  const listed = listedIn(instructions);
  if (listed.length > 0) return listed;
  const seen = new Set<string>();
  return history
    .flatMap((entry) => (entry.type === "result" ? (entry.contexts ?? []) : []))
    .filter(({ id }) => !seen.has(id) && seen.add(id))
    .map(({ source, content }, index) => ({ number: index + 1, title: source.title, content }));
}

/** Those of the sources that a result found: by what it brought, or else by the names in its data. */
export function sourcesIn(result: ResultEntry, sources: readonly Source[]): Source[] {
  if (result.contexts)
    return sources.filter(({ title, content }) =>
      result.contexts?.some((found) => title === found.source.title && isSame(content, found.content)),
    );
  const names = itemsIn(dataOf(result)).flatMap((item) => nameOf(item) ?? []);
  const text = toPlainText(result.content);
  const isShown = (content: string) => content.length > 20 && text.includes(content.slice(0, 100));
  return sources.filter(
    ({ title, content }) => names.some((name) => title.startsWith(name)) || isShown(content),
  );
}

/** A list may have shortened what was found. */
const isSame = (listed: string, found: string): boolean =>
  found.trim().replace(/\s+/gu, " ").startsWith(listed.replace(/ …$/u, "").replace(/\s+/gu, " "));

function listedIn(instructions: string): Source[] {
  const start = instructions.lastIndexOf("\n<sources>\n");
  if (start < 0) return [];
  const end = instructions.indexOf("\n</sources>", start);
  const found = instructions.slice(start, end).matchAll(/^\[(\d+)\] (.*)((?:\n> .*)*)/gmu);
  return [...found].map(([, number, title = "", quoted = ""]) => ({
    number: Number(number),
    title: title.replace(/ \(\S+\)$/u, ""),
    content: quoted.replace(/^> /gmu, "").trim(),
  }));
}

const mostCited = 5;
const mostCharacters = 400;

/** What the sources say about a question, each with its number; the closest of them only. */
export function citeSources(question: string, sources: readonly Source[]): string {
  const asked = [
    ...new Set(
      wordsOf(question)
        .filter((word) => !isFiller(word))
        .map(({ stem }) => stem),
    ),
  ];
  const judge = judgeOf(asked, sources);
  const ranked = sources
    .map((source) => ({ source, worth: judge(`${source.title} ${source.content}`) }))
    .sort(
      (left, right) => right.worth.weight - left.worth.weight || left.source.number - right.source.number,
    );
  const least = (ranked[0]?.worth.weight ?? 0) / 3;
  const close = ranked.filter(({ worth }) => worth.weight >= least).slice(0, mostCited);
  const told = close.flatMap(({ source }) => {
    const text = passageOf(source, judge);
    return text === "" ? [] : [{ source, text }];
  });
  return told
    .sort((left, right) => left.source.number - right.source.number)
    .map(({ source, text }) => {
      const isTitled = told.length > 1 || judge(source.title).hits > judge(text).hits;
      return `${told.length > 1 ? "- " : ""}${isTitled ? `${source.title}: ` : ""}${text} [${source.number}]`;
    })
    .join("\n");
}

type Worth = { readonly hits: number; readonly weight: number };
type Judge = (text: string) => Worth;

/** How much a text is about what was asked. A word that few sources have says more than one that all have. */
function judgeOf(asked: readonly string[], sources: readonly Source[]): Judge {
  const stemsOf = (text: string) =>
    new Set(wordsOf(text).flatMap(({ raw, stem }) => [stem, ...nameWords(raw)]));
  const isIn = (stem: string, stems: ReadonlySet<string>) =>
    stems.has(stem) || [...stems].some((other) => likeness(stem, other) >= 0.8);
  const texts = sources.map(({ title, content }) => stemsOf(`${title} ${content}`));
  const weights = asked.map((stem) => {
    const holders = texts.filter((stems) => isIn(stem, stems)).length;
    return 1 + Math.log(sources.length / Math.max(1, holders));
  });
  return (text) => {
    const stems = stemsOf(text);
    const found = weights.filter((_, at) => isIn(asked[at] ?? "", stems));
    return { hits: found.length, weight: found.reduce((sum, weight) => sum + weight, 0) };
  };
}

/** The sentences of a source that tell most; its first one where the title already is what was asked for. */
function passageOf({ title, content }: Source, judge: Judge): string {
  const sentences = proseOf(content);
  const windows = sentences.map((sentence, at) => {
    const next = sentences[at + 1];
    const text =
      next !== undefined && sentence.length + next.length < mostCharacters ? `${sentence} ${next}` : sentence;
    const own = judge(sentence).weight;
    const lead = at === 0 && own > 0 ? judge(title).weight : own / 10;
    return { text, worth: judge(text).weight + lead };
  });
  const best = windows.toSorted((left, right) => right.worth - left.worth)[0]?.text ?? "";
  return best.length > mostCharacters ? `${best.slice(0, mostCharacters - 1).toWellFormed()}…` : best;
}

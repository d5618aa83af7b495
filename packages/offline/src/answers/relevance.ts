import { computeSimilarity, isFiller, isTaskWord, typoScore } from "../language/synonyms.ts";
import { tokenize, toNameStems } from "../language/words.ts";

export type Source = { readonly number: number; readonly title: string; readonly content: string };

/** How much of a question a text covers: the number of its words, and their weight. */
export type Relevance = { readonly hits: number; readonly weight: number };
export type RelevanceJudge = (text: string) => Relevance;

/** The words that a question is about. */
export function listTopicStems(question: string): string[] {
  const words = tokenize(question).filter((word) => !isFiller(word));
  const topics = words.filter((word) => !isTaskWord(word));
  return [...new Set((topics.length > 0 ? topics : words).map(({ stem }) => stem))];
}

/** Rates how relevant a text is to the question. Words that occur in few sources count more, as in TF-IDF. */
export function createJudge(asked: readonly string[], sources: readonly Source[]): RelevanceJudge {
  const texts = sources.map(({ title, content }) => collectStems(`${title} ${content}`));
  const weights = asked.map((stem) => {
    const holders = texts.filter((stems) => isIn(stem, stems)).length;
    return 1 + Math.log(sources.length / Math.max(1, holders));
  });
  return (text) => {
    const stems = collectStems(text);
    const found = weights.filter((_, at) => isIn(asked[at] ?? "", stems));
    return { hits: found.length, weight: found.reduce((sum, weight) => sum + weight, 0) };
  };
}

/** A source must cover this share of the words of a question to answer it. */
const minShare = 0.6;

/**
 * The sources that may answer a question. If it names documents, a source must be about one of them; in a comparison,
 * it may omit the others.
 */
export function filterRelevant(topic: string, sources: readonly Source[]): readonly Source[] {
  const asked = listTopicStems(topic);
  const documents = sources.map(({ title }) => collectStems(title.split(": ")[0] ?? ""));
  const names = asked.filter((stem) => documents.some((stems) => stems.has(stem)));
  return sources.filter(({ title, content }) => {
    const stems = collectStems(`${title} ${stripExamples(content)}`);
    const found = asked.filter((stem) => isIn(stem, stems));
    const named = names.filter((stem) => found.includes(stem));
    const needed = asked.length - (named.length > 0 ? names.length - named.length : 0);
    return found.length > 0 && found.length >= minShare * needed && (names.length === 0 || named.length > 0);
  });
}

/** Code with spaces is an example, which mentions anything; only its names such as `maxTurns` are part of the text. */
const stripExamples = (text: string): string =>
  text.replaceAll(/^ {0,3}(`{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))|`[^`\n]*`/gmu, (code) =>
    /\s/u.test(code) ? (code.match(/\w+[._-]\w+|\w*\p{Ll}\p{Lu}\w*/gu) ?? []).join(" ") : code,
  );

export const numberPattern: RegExp =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|no limit|unlimited)\b/iu;

/** True for a question that only a number answers: "how much …", "which port …". */
export const asksForNumber = (question: string): boolean =>
  /\bhow (?:much|many|old|far|tall|big|large)\b|\b(?:what|which) (?:port|year|date|time|version|price|percentage|number)\b/iu.test(
    question,
  );

const collectStems = (text: string): ReadonlySet<string> =>
  new Set(tokenize(text.replaceAll("`", " ")).flatMap(({ raw, stem }) => [stem, ...toNameStems(raw)]));

/** Sources contain few typos: "life" does not mean "line". */
const isIn = (stem: string, stems: ReadonlySet<string>): boolean =>
  stems.has(stem) || [...stems].some((other) => computeSimilarity(stem, other) > typoScore);

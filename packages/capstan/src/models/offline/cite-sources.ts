import type { ModelRequest } from "../../model.ts";
import { isFiller, isNear, wordsOf } from "./words.ts";

type Source = { readonly number: number; readonly title: string; readonly content: string };

/** What was found and can be cited: as the instructions number it, else in the order of the results. */
export function sourcesOf({ instructions, history }: ModelRequest): Source[] {
  const start = instructions.lastIndexOf("\n<sources>\n");
  if (start >= 0) {
    const end = instructions.indexOf("\n</sources>", start);
    const listed = instructions.slice(start, end).matchAll(/^\[(\d+)\] (.*)((?:\n> .*)*)/gmu);
    const sources = [...listed].map(([, number, title = "", quoted = ""]) => ({
      number: Number(number),
      title: title.replace(/ \(\S+\)$/u, ""),
      content: quoted.replace(/^> /gmu, "").trim(),
    }));
    if (sources.length > 0) return sources;
  }
  const seen = new Set<string>();
  return history
    .flatMap((entry) => (entry.type === "result" ? (entry.contexts ?? []) : []))
    .filter(({ id }) => !seen.has(id) && seen.add(id))
    .map(({ source, content }, index) => ({ number: index + 1, title: source.title, content }));
}

const mostCited = 5;

/** The sentence of each source that has most of the question's words, with its number; the closest sources only. */
export function citeSources(question: string, sources: readonly Source[], atLeast: number): string {
  const asked = wordsOf(question).filter((word) => !isFiller(word));
  const worth = (text: string) => {
    const words = wordsOf(text);
    return asked.filter(({ stem }) => words.some((word) => isNear(word.stem, stem))).length;
  };
  const ranked = sources
    .map((source) => {
      const sentences = source.content
        .split(/(?<=[.!?])\s+|\n+/u)
        .filter((sentence) => sentence.trim() !== "");
      const best = sentences.toSorted((left, right) => worth(right) - worth(left))[0] ?? source.title;
      return { source, sentence: shortened(best.trim()), worth: worth(`${source.title} ${source.content}`) };
    })
    .sort((left, right) => right.worth - left.worth || left.source.number - right.source.number);
  const least = Math.max(atLeast, Math.min(1, ranked[0]?.worth ?? 0));
  return ranked
    .filter((found) => found.worth >= least)
    .slice(0, mostCited)
    .sort((left, right) => left.source.number - right.source.number)
    .map(({ source, sentence }) => `${sentence} [${source.number}]`)
    .join("\n");
}

const shortened = (text: string): string =>
  text.length > 300 ? `${text.slice(0, 299).toWellFormed()}…` : text;

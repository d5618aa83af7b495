import { questionWords } from "./removal.ts";
import { fillers } from "./synonyms.ts";

/** Frequent words of German, French, Spanish, Italian and Portuguese that are not English words. */
const foreignWords = new Set(
  (
    "der das und ist sind ein eine einen einem wo wie viele welche welcher welches gibt es ich du wir mir mich mit bei " +
    "fur von zum zur nicht auf dem den des bitte kannst zeig " +
    "le la les une et est sont ou que qui quoi quel quelle quels quelles je tu il elle nous vous puis dans avec pour sur " +
    "du ce cette combien comment moi mes quand " +
    "el los las un una y es son donde como cual cuales quien cuanto cuantos cuanta hay mi en con para por del al tengo " +
    "il lo gli i che chi dove quanti quante quanto sono di della nel tutti tutte per mio con ho ci cosa " +
    "o os as um uma e onde qual quais quem quantos tem em com para do da no na meu minha escreveu fica"
  ).split(" "),
);
/** Words that are foreign, but also common in English sentences. */
const ambiguousWords = new Set("i la a an as do no on so me is in o e y per con es il".split(" "));

/** True if a sentence is in another language than English, judged by its most frequent words. */
export function isForeign(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];
  const isEnglish = (word: string) =>
    (fillers.has(word) || questionWords.has(word)) && !foreignWords.has(word);
  const english = words.filter(isEnglish).length;
  const foreign = words.filter((word) => /[^a-z]/u.test(word) || foreignWords.has(word));
  const isCertain = /[¿¡]/u.test(text) || foreign.some((word) => !ambiguousWords.has(word));
  return isCertain && foreign.length > english;
}

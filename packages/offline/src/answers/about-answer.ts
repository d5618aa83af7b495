import { type Entry, getText } from "capstan";
import { getLastUtterance } from "../dialog/parse-intents.ts";

const polite = String.raw`(?:(?:can|could|would) you\s+|please\s+|and\s+|but\s+|now\s+|ok(?:ay)?,?\s+)*`;
const matchWhole = (pattern: string): RegExp =>
  new RegExp(`^\\s*${polite}(?:${pattern})(?:\\s+(?:please|pls|again|then|now))?[\\s.!?]*$`, "iu");

const shortenPattern = matchWhole(
  String.raw`(?:(?:say|make|put|give)\s+(?:it|that|me)\s+)?(?:a\s+(?:bit|little|lot)\s+|much\s+)?(?:shorter|briefer|(?:more\s+)?(?:brief|concise)(?:ly)?|in\s+short|in\s+(?:one|a|fewer|two)\s+\w+)(?:\s+version)?|(?:shorten|summari[sz]e)\s+(?:it|that|this)|(?:that|this|it)(?:['’]s| is)\s+too\s+long|tl;?dr`,
);
const languages =
  "German|French|Spanish|Italian|Portuguese|Dutch|Polish|Swedish|Norwegian|Danish|Finnish|Greek|Russian|Turkish|Arabic|Hebrew|Hindi|Japanese|Chinese|Korean|English";
const translatePattern = matchWhole(
  `(?:(?:say|repeat|write|give|tell)\\s+(?:it|that|this|me)?(?:\\s+(?:that|this|it))?\\s*|translate\\s+(?:it|that|this)?\\s*)?(?:in|into|to)\\s+(?:${languages})|translate\\s+(?:it|that|this)`,
);
const reasonPattern = matchWhole(
  String.raw`why(?:\s+(?:not|so|is\s+(?:that|it)(?:\s+so)?|do\s+you\s+(?:think|say)\s+(?:so|that)))?|how\s+(?:do|can)\s+you\s+know(?:\s+(?:that|this))?|how\s+come|are\s+you\s+(?:really\s+)?(?:sure|certain)|really|says\s+who|is\s+(?:that|this|it)\s+(?:true|right|correct)`,
);
const morePattern = matchWhole(
  String.raw`(?:say|make|put)\s+(?:it|that)\s+(?:differently|simpler|longer|nicer)|(?:in\s+)?(?:simpler|easier|plain|other)\s+words|simpler|longer|(?:please\s+)?rephrase(?:\s+(?:it|that))?|more\s+detail(?:s|ed)?|elaborate|explain\s+(?:it|that|this)|i\s+(?:don['’]?t|do\s+not)\s+(?:understand|get)(?:\s+(?:it|that|this))?`,
);

/**
 * Replies to an utterance about the last answer: "shorter please", "in German", "why?". It is never a search. Undefined
 * for any other utterance, and without an answer.
 */
export function replyAboutAnswer(history: readonly Entry[]): string | undefined {
  const { text, index } = getLastUtterance(history);
  const last = history.slice(0, Math.max(0, index)).findLast((entry) => entry.type === "assistant");
  const answer = last?.type === "assistant" ? getText(last).trim() : "";
  if (answer === "") return undefined;
  if (translatePattern.test(text)) return "I cannot translate: I follow rules and know English only.";
  if (shortenPattern.test(text)) return shorten(answer);
  if (reasonPattern.test(text))
    return "I cannot give reasons: I follow rules, and my answer is what I found. You can ask about a part of it.";
  if (morePattern.test(text))
    return "I cannot put it in other words: I follow rules, and my answer is what I found. You can ask about a part of it.";
  return undefined;
}

const maxItems = 3;

/** Keeps the first items of a list, or the first sentence of each paragraph. */
function shorten(answer: string): string {
  const lines = answer.split("\n").filter((line) => line.trim() !== "" && !/^\s*`{3,}/u.test(line));
  const isItem = (line: string) => /^\s*(?:[-*•]|\d+[.)])\s/u.test(line);
  const items = lines.filter(isItem);
  const others = lines.filter((line) => !isItem(line)).map(getFirstSentence);
  const left = items.length - maxItems;
  const short = [
    ...others.slice(0, items.length > 0 ? 1 : 2),
    ...items.slice(0, maxItems).map(shortenItem),
    ...(left > 0 ? [`- and ${left} more`] : []),
  ].join("\n");
  return short.length < answer.length ? short : "I cannot make it shorter.";
}

/** A sentence keeps its citations. */
const getFirstSentence = (text: string): string =>
  /^.*?[.!?](?:\s*\[\d+\])*(?=\s+\p{Lu}|$)/u.exec(text)?.[0] ?? text;

const shortenItem = (line: string): string => {
  const citation = /(?:\s*\[\d+\])+\s*$/u.exec(line)?.[0] ?? "";
  const sentence = getFirstSentence(
    line.slice(0, line.length - citation.length).replace(/\s\([^()]*\)$/u, ""),
  );
  return sentence + citation;
};

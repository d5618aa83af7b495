export type Clause = { readonly conjunction: string; readonly text: string };

/** Further clauses are joined to the last one. */
const maxClauses = 8;
const conjunctions = /((?<=[.?!;])\s+|,?\s+(?:and\s+then|and\s+also|then|and)\s+)/iu;

/** Splits an utterance into clauses that may each express an intent. Quoted text is never split. */
export function splitClauses(text: string): Clause[] {
  const pieces = text.split(conjunctions);
  const clauses: { conjunction: string; text: string }[] = [];
  for (let at = 0; at < pieces.length; at += 2) {
    const piece = { conjunction: pieces[at - 1] ?? "", text: pieces[at] ?? "" };
    const last = clauses.at(-1);
    if (last && (clauses.length >= maxClauses || hasOpenQuote(last.text)))
      last.text += piece.conjunction + piece.text;
    else if (piece.text.trim() !== "") clauses.push(piece);
  }
  return clauses;
}

const hasOpenQuote = (text: string): boolean => (text.match(/["“”]/gu) ?? []).length % 2 === 1;

const greeting = /^\s*(?:hi|hello|hey|good\s+(?:morning|afternoon|evening))(?:\s+there)?\b[\s,!.]+(?=\S)/iu;
export const stripGreeting = (text: string): string => text.replace(greeting, "");

/** Matches "don't …" but not "don't you know …", which is a question, or "don't forget …", which is a request. */
const negatedRequest =
  /^\s*(?:(?:please|no|wait|stop)[\s,.!]+)*(?:i\s+(?:do\s+not|don['’]?t)\s+want\s+(?:you\s+)?to|(?:do\s+not|don['’]?t|never)(?!\s+(?:you|forget)\b))(?=[\s,.;!?]|$).*?(?:[,.;!?](?:\s|$)|\s(?=(?:but|just)\b)|$)/isu;

/** The utterance without its greeting and without a leading "don't …" clause. */
export const extractRequest = (text: string): string =>
  stripGreeting(text)
    .replace(negatedRequest, "")
    .replace(/\b(?:close|next) to\b/giu, "near");

const trailingPhrase =
  /[\s,]+(?:for (?:now|later|me|us)|so far|altogether|in total|overall|right now|at the moment|currently|exactly|anyway|if possible|thanks|thank you)[\s.!?]*$/iu;

/** The request without words at its end that do not change it: "what have I saved so far". */
export const stripTrailingPhrase = (text: string): string => text.replace(trailingPhrase, "");

export type Clause = { readonly joint: string; readonly text: string };

/** More of them are one clause: nobody asks for so much at once. */
const mostClauses = 8;
const joints = /((?<=[.?!;])\s+|,?\s+(?:and\s+then|and\s+also|then|and)\s+)/iu;

/** The parts of what was said that may each ask for something. What is in quotes is never cut. */
export function clausesOf(text: string): Clause[] {
  const pieces = text.split(joints);
  const clauses: { joint: string; text: string }[] = [];
  for (let at = 0; at < pieces.length; at += 2) {
    const piece = { joint: pieces[at - 1] ?? "", text: pieces[at] ?? "" };
    const last = clauses.at(-1);
    if (last && (clauses.length >= mostClauses || isInQuotes(last.text)))
      last.text += piece.joint + piece.text;
    else if (piece.text.trim() !== "") clauses.push(piece);
  }
  return clauses;
}

const isInQuotes = (text: string): boolean => (text.match(/["“”]/gu) ?? []).length % 2 === 1;

const greeting = /^\s*(?:hi|hello|hey|good\s+(?:morning|afternoon|evening))(?:\s+there)?\b[\s,!.]+(?=\S)/iu;
export const withoutGreeting = (text: string): string => text.replace(greeting, "");

/** "Don't you know …" asks, and who is not to forget something is to do it. */
const unwanted =
  /^\s*(?:(?:please|no|wait|stop)[\s,.!]+)*(?:i\s+(?:do\s+not|don['’]?t)\s+want\s+(?:you\s+)?to|(?:do\s+not|don['’]?t|never)(?!\s+(?:you|forget)\b))(?=[\s,.;!?]|$).*?(?:[,.;!?](?:\s|$)|\s(?=(?:but|just)\b)|$)/isu;

/** What is wished for: without a greeting before it, and without what is not to be done. */
export const wishedIn = (text: string): string => withoutGreeting(text).replace(unwanted, "");

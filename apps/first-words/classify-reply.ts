/** What a reply does: it asks the user something, says that it cannot help, or claims anything else. */
export type ReplyKind = "ask" | "decline" | "claim";

/**
 * A reply with one sentence that is neither a question nor an excuse is a claim. So is one with a technical name that it
 * does not quote.
 */
export function classifyReply(text: string): ReplyKind {
  if (technicalName.test(text.replace(quotedText, ""))) return "claim";
  const parts = splitSentences(text);
  const kinds = parts.map((part, index) => classifySentence(part, parts[index - 1]));
  if (kinds.length === 0 || kinds.includes("claim")) return "claim";
  if (kinds.includes("ask")) return "ask";
  if (kinds.includes("decline")) return "decline";
  return kinds.includes("offer") ? "ask" : "claim";
}

/** Quoted text does not end a sentence. */
function splitSentences(text: string): readonly string[] {
  return text
    .replace(quotedText, (quote) => quote.replace(/[.!?:]/g, ""))
    .split(/\n+|(?<=[.!?])\s+/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function classifySentence(sentence: string, previous: string | undefined): ReplyKind | "offer" | "courtesy" {
  const fits = (list: readonly RegExp[]): boolean => list.some((pattern) => pattern.test(sentence));
  if (/\?$|\bI need to know\b/.test(sentence)) return "ask";
  if (fits(patterns.decline)) return "decline";
  if (fits(patterns.offer)) return "offer";
  if (fits(patterns.courtesy)) return "courtesy";
  const isListItem = /^(?:[-*•]|\d+\.) /.test(sentence) && previous !== undefined;
  return isListItem && /:$|^(?:[-*•]|\d+\.) /.test(previous) ? "offer" : "claim";
}

const quotedText = /"[^"\n]*"|“[^”\n]*”/g;
const technicalName = /\b[a-z]+(?:[A-Z][a-z]+)+\b|\b[a-z]+(?:_[a-z]+)+\b/;

const patterns = {
  decline: [
    /\bI (?:can ?not|can't|could not|couldn't|am (?:not able|unable)|only understand|understand only)\b/i,
    /\bI (?:do not|don't|did not|didn't) (?:know|understand|have|find|see)\b/i,
    /\b(?:is|are) (?:not (?:found|recorded|known|available|supported|allowed)|unknown|outside)\b/i,
    /^(?:sorry|unfortunately|that did not work)\b/i,
    // It must say what was searched for: "No files found." is a claim.
    /^(?=.*")no(?:thing)?\b.*\b(?:found|match(?:es)?|contains?|recorded|is named|has the name)\b/i,
    /^no (?:more )?(?:results?|mails?|notes?|places?|people) for "/i,
    /\b(?:found nothing|English only|only English|not found)\b/i,
    // Units of different quantities.
    /\bmeasures \w+ and \S+ \w+\.$/,
  ],
  offer: [
    /^(?:try|use|choose|please|you c(?:an|ould) (?:say|ask|try)|ask (?:me )?(?:about|for|who|what|how)|for example)\b/i,
    /^(?:I can|one of my tools|only .* searched)\b/i,
    /^(?:known|available|(?:node|edge) types|sections)\b.*:/i,
  ],
  courtesy: [
    /^(?:hi|hello|good (?:morning|day|evening)|thanks|thank you|you're welcome|okay?|sure)\b[^.!]{0,20}[.!]?$/i,
    /^I am an offline model\b|^Nothing was changed\.$|^\(The mailbox is fictional\.\)$/,
  ],
} as const;

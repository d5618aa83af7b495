import { defineTool, type Tool } from "capstan";
import { getUser } from "../get-user.ts";
import { getContentWords } from "../library/content-words.ts";
import type { Mail, Mailbox } from "../mailbox.ts";
import { parseDay } from "./parse-day.ts";
import { createSourcesHint, type SourceText, toFragments } from "./passages.ts";

/** `search_email`: returns the newest mails with all words of the query, in pages. Only for the owner of the mailbox. */
export function searchEmail({ owner, isFictional, mails }: Mailbox): Tool {
  const note = isFictional ? " (The mailbox is fictional.)" : "";
  return defineTool({
    name: "search_email",
    description: `Searches the user's emails, newest first, a few at a time.${note}`,
    input: {
      type: "object",
      properties: {
        query: {
          type: "string",
          maxLength: 500,
          description: "Words in the mail, or a sender; just emails means all.",
        },
        since: { type: "string", maxLength: 40, description: `Only from this day on. ${dayHint}` },
        until: { type: "string", maxLength: 40, description: `Only before this day. ${dayHint}` },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: 20,
          default: 3,
          description: "Mails per page.",
        },
        page: {
          type: "integer",
          minimum: 1,
          maximum: 1000,
          default: 1,
          description: "Page number; 2 and up for more.",
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    examples: [
      { phrase: "summarize recent emails about {query}" },
      { phrase: "summarize the {query} emails" },
      { phrase: "summary of the emails about {query}" },
      { phrase: "give me a summary of the emails about {query}" },
      { phrase: "any news about {query}" },
      { phrase: "is there any news about {query}" },
      { phrase: "what is new about {query}" },
      { phrase: "show me my emails", input: { query: "emails" } },
      { phrase: "show my recent emails", input: { query: "emails" } },
      { phrase: "what emails do I have", input: { query: "emails" } },
      { phrase: "do I have any emails", input: { query: "emails" } },
      { phrase: "what did the last email say", input: { query: "emails", limit: 1 } },
      { phrase: "what does my latest email say", input: { query: "emails", limit: 1 } },
      { phrase: "show me my latest email", input: { query: "emails", limit: 1 } },
      { phrase: "show me my last email", input: { query: "emails", limit: 1 } },
      { phrase: "search my emails for {query}" },
      { phrase: "did anyone email me about {query}" },
      { phrase: "did anyone write to me about {query}" },
      { phrase: "did I get an email about {query}" },
      { phrase: "do I have emails about {query}" },
      { phrase: "show me the emails about {query}" },
      { phrase: "find mails about {query}" },
      { phrase: "emails about {query}" },
      { phrase: "is there a mail about {query}" },
      { phrase: "any mail from {query}" },
      { phrase: "emails from {query}" },
      { phrase: "how many emails did {query} send me", input: { limit: 20 } },
      { phrase: "how many emails are from {query}", input: { limit: 20 } },
      { phrase: "how many emails do I have", input: { query: "emails", limit: 20 } },
      { phrase: "emails since {since}", input: { query: "emails" } },
      { phrase: "emails after {since}", input: { query: "emails" } },
      { phrase: "emails before {until}", input: { query: "emails" } },
      { phrase: "what did {query} write to me" },
      { phrase: "what did {sender} write about {topic}", input: { query: "{sender} {topic}" } },
    ],
    effects: "none",
    reads: ["private", "untrusted"],
    execute({ query, since, until, limit = 3, page = 1 }, { context }) {
      if (getUser(context) !== owner)
        return {
          error: { code: "permission_denied", message: "This mailbox belongs to another user." },
          retryable: false,
        };
      const days = { since, until };
      const inTime = filterDays(mails, days);
      if (typeof inTime === "string")
        return { error: `"${inTime}" is not a day. ${dayHint}`, retryable: false };
      const words = getContentWords(query).filter((word) => !genericWords.test(word));
      const matches = findMails(inTime, words);
      const shown = matches.slice((page - 1) * limit, page * limit);
      if (shown.length === 0)
        return {
          message: `No ${page > 1 ? "more mails" : "mail"} for "${query}".${note}`,
          data: { mails: [] },
        };
      const remaining = matches.length - page * limit;
      const found = shown.map((mail) => toSourceText(mail, isFictional));
      const message = `${shown.length} of ${matches.length} mails for "${query}"${remaining > 0 ? `, ${remaining} more on page ${page + 1}` : ""}.${note}`;
      return {
        message,
        data: {
          mails: shown.map(({ id, subject, from, date }) => ({ id, subject, from, date })),
          // The input for the next page.
          ...(remaining > 0 && { next: { query, ...days, limit, page: page + 1 } }),
        },
        contexts: toFragments(found),
        ui: createSourcesHint(message, found, query),
      };
    },
  });
}

/** Words that refer to mails in general, and are not searched for. */
const genericWords =
  /^(?:(?:e-?)?mails?|messages?|inbox|recent|latest|newest|summar(?:y|i[sz]e)|any(?:one|body)|some(?:one|body))$/;

const dayHint = "Such as 2026-06-10 or 10 June; without a year, the last one before the newest mail.";

type Days = { readonly since?: string | undefined; readonly until?: string | undefined };

/** The mails between two days, or the text that is not a day. */
function filterDays(mails: readonly Mail[], { since, until }: Days): readonly Mail[] | string {
  const newest = mails.reduce((latest, { date }) => (date > latest ? date : latest), "");
  const first = since === undefined ? "" : parseDay(since, newest);
  const end = until === undefined ? "9999" : parseDay(until, newest);
  if (first === undefined) return since ?? "";
  if (end === undefined) return until ?? "";
  return mails.filter(({ date }) => date >= first && date < end);
}

/** In a question, a mail need not repeat every word. */
const minShare = 0.6;

/** The mails with all words, or else those with most of them. */
function findMails(mails: readonly Mail[], words: readonly string[]): readonly Mail[] {
  const shares = mails.map((mail) => ({ mail, share: computeShare(mail, words) }));
  const best = Math.max(0, ...shares.map(({ share }) => share));
  return shares.filter(({ share }) => share >= minShare && share === best).map(({ mail }) => mail);
}

function computeShare({ from, subject, body }: Mail, words: readonly string[]): number {
  const text = `${from} ${subject} ${body}`.toLowerCase();
  const found = words.filter((word) => text.includes(word.length > 4 ? word.replace(/e?s$/, "") : word));
  return words.length === 0 ? 1 : found.length / words.length;
}

function toSourceText({ id, from, date, subject, body }: Mail, isFictional: boolean): SourceText {
  return {
    id,
    title: `${subject} (${from}, ${date}${isFictional ? ", fictional" : ""})`,
    text: `${from} wrote on ${date}: ${body}`,
    place: `Mail from ${from}, ${date}`,
  };
}

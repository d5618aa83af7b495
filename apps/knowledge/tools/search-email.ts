import { defineTool, type Tool } from "capstan";
import { askerOf } from "../asker.ts";
import { contentWords } from "../library/content-words.ts";
import type { Mail, Mailbox } from "../mailbox.ts";
import { contextsOf, type Found, sourcesHint } from "./passages.ts";

/** `search_email`: the newest mails with all words of a query, some at a time. Only whose mailbox it is may ask. */
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
          description: "Words of a mail, or a sender; emails alone means all.",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: 20,
          default: 3,
          description: "How many mails at a time.",
        },
        page: {
          type: "integer",
          minimum: 1,
          maximum: 1000,
          default: 1,
          description: "From 2 on: the next ones.",
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    examples: [
      { phrase: "summarize recent emails about {query}" },
      { phrase: "summarize the {query} emails" },
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
      { phrase: "what did {query} write to me" },
      { phrase: "what did {sender} write about {topic}", input: { query: "{sender} {topic}" } },
    ],
    effects: "none",
    reads: ["private", "untrusted"],
    execute({ query, limit = 3, page = 1 }, { context }) {
      if (askerOf(context) !== owner)
        return {
          error: { code: "permission_denied", message: "This mailbox is somebody else's." },
          retryable: false,
        };
      const words = contentWords(query).filter((word) => !isAboutMails.test(word));
      const fitting = mails.filter((mail) => holds(mail, words));
      const shown = fitting.slice((page - 1) * limit, page * limit);
      if (shown.length === 0)
        return {
          message: `No ${page > 1 ? "more mails" : "mail"} for "${query}".${note}`,
          data: { mails: [] },
        };
      const left = fitting.length - page * limit;
      const found = shown.map((mail) => foundOf(mail, isFictional));
      const message = `${shown.length} of ${fitting.length} mails for "${query}"${left > 0 ? `, ${left} more on page ${page + 1}` : ""}.${note}`;
      return {
        message,
        data: {
          mails: shown.map(({ id, subject, from, date }) => ({ id, subject, from, date })),
          // The input that gives the rest.
          ...(left > 0 && { next: { query, limit, page: page + 1 } }),
        },
        contexts: contextsOf(found),
        ui: sourcesHint(message, found, query),
      };
    },
  });
}

/** Words that any question about mails may have, and no mail needs to have. */
const isAboutMails =
  /^(?:(?:e-?)?mails?|messages?|inbox|recent|latest|newest|summar(?:y|i[sz]e)|any(?:one|body)|some(?:one|body))$/;

function holds({ from, subject, body }: Mail, words: readonly string[]): boolean {
  const text = `${from} ${subject} ${body}`.toLowerCase();
  return words.every((word) => text.includes(word.length > 4 ? word.replace(/e?s$/, "") : word));
}

function foundOf({ id, from, date, subject, body }: Mail, isFictional: boolean): Found {
  return {
    id,
    title: `${subject} (${from}, ${date}${isFictional ? ", fictional" : ""})`,
    text: `${from} wrote on ${date}: ${body}`,
    place: `Mail from ${from}, ${date}`,
  };
}

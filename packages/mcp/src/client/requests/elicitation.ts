import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import { type Answer, escapeInvisible, type Question } from "capstan";

/** A question for the user, or the reason why the user is not asked. */
export type ElicitationOutcome = { readonly question: Question } | { readonly refused: string };

// Word boundaries find "token" and "apiKey" but not "secretary".
const secretWords =
  /\b(pass(word|code|phrase|wd)?|pwd|secrets?|tokens?|api ?keys?|private ?key|credentials?|pin|cvv|cvc|ssn|otp)\b/i;

/** Converts an elicitation to a question. Forms that ask for secrets are refused, and URLs are shown in full. */
export function toQuestion(server: string, params: ElicitRequestParams): ElicitationOutcome {
  const prompt = `The MCP server "${server}" asks: ${toOneLine(params.message)}`;
  if (params.mode === "url") {
    const url = URL.canParse(params.url) ? new URL(params.url) : undefined;
    if (!url || !(url.protocol === "https:" || isLoopbackUrl(url)))
      return {
        refused: `The server asked to open a URL that is not https: ${escapeInvisible(params.url)}`,
      };
    const message = `${prompt} Open ${url.href} (at ${url.host}) yourself if you trust it, then approve.`;
    return { question: { message, url: url.href } };
  }
  // Only the checked parts: other keywords of the schema could ask for more.
  const { type, properties, required } = params.requestedSchema;
  const secret = Object.entries(properties).find(([name, field]) => asksForSecret(name, field));
  if (secret)
    return { refused: `The server asked for a secret ("${escapeInvisible(secret[0])}") in a form.` };
  return { question: { message: prompt, schema: { type, properties, ...(required && { required }) } } };
}

/** Converts the user's answer for the server. Form fields without a value get their default. */
export function toElicitResult(answer: Answer, params: ElicitRequestParams): ElicitResult {
  if (!answer.approved) return { action: "decline" };
  if (params.mode === "url") return { action: "accept" };
  const fields = Object.entries(params.requestedSchema.properties);
  const defaults = fields.flatMap(([name, field]) => ("default" in field ? [[name, field.default]] : []));
  return {
    action: "accept",
    content: { ...Object.fromEntries(defaults), ...(answer.value as object | null) },
  };
}

function asksForSecret(name: string, field: object): boolean {
  const {
    title = "",
    description = "",
    format,
  } = field as { title?: string; description?: string; format?: string };
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/[_-]/g, " ");
  return format === "password" || [words, title, description].some((text) => secretWords.test(text));
}

function isLoopbackUrl({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function toOneLine(text: string): string {
  return escapeInvisible(text.slice(0, 2_000).toWellFormed().replaceAll(/\s+/g, " "));
}

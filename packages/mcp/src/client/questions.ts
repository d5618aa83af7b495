import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import { type Answer, escapeInvisible, type Question } from "capstan";

/** What a server wants to know from a person, or why that person is not asked. */
export type Wanted = { readonly question: Question } | { readonly refused: string };

// Split at word boundaries, so that "token" and "apiKey" are found and "secretary" is not.
const secretWords =
  /\b(pass(word|code|phrase|wd)?|pwd|secrets?|tokens?|api ?keys?|private ?key|credentials?|pin|cvv|cvc|ssn|otp)\b/i;

/** A server's question for a person. Secrets are never asked for in a form, and an address is shown in full. */
export function elicitation(server: string, params: ElicitRequestParams): Wanted {
  const asks = `The MCP server "${server}" asks: ${oneLine(params.message)}`;
  if (params.mode === "url") {
    const url = URL.canParse(params.url) ? new URL(params.url) : undefined;
    if (!url || !(url.protocol === "https:" || isLoopback(url)))
      return {
        refused: `It wanted to send you to an address that is not https: ${escapeInvisible(params.url)}`,
      };
    const message = `${asks} Open ${url.href} (at ${url.host}) yourself if you trust it, then agree.`;
    return { question: { message, url: url.href } };
  }
  // Only what has been looked at: a schema can say more, and ask for more by it.
  const { type, properties, required } = params.requestedSchema;
  const secret = Object.entries(properties).find(([name, field]) => isSecret(name, field));
  if (secret)
    return { refused: `It asked for what looks like a secret ("${escapeInvisible(secret[0])}") in a form.` };
  return { question: { message: asks, schema: { type, properties, ...(required && { required }) } } };
}

/** What the server is told of a person's answer. A field of a form that was left alone has its default. */
export function elicitResult(answer: Answer, params: ElicitRequestParams): ElicitResult {
  if (!answer.approved) return { action: "decline" };
  if (params.mode === "url") return { action: "accept" };
  const fields = Object.entries(params.requestedSchema.properties);
  const defaults = fields.flatMap(([name, field]) => ("default" in field ? [[name, field.default]] : []));
  return {
    action: "accept",
    content: { ...Object.fromEntries(defaults), ...(answer.value as object | null) },
  };
}

function isSecret(name: string, field: object): boolean {
  const {
    title = "",
    description = "",
    format,
  } = field as { title?: string; description?: string; format?: string };
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/[_-]/g, " ");
  return format === "password" || [words, title, description].some((text) => secretWords.test(text));
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function oneLine(text: string): string {
  return escapeInvisible(text.slice(0, 2_000).toWellFormed().replaceAll(/\s+/g, " "));
}

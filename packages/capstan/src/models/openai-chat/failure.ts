import { AgentError, type ErrorCode } from "../../errors.ts";
import { isRecord } from "../../json.ts";
import { masked } from "../http-failure.ts";

const longestMessage = 500;

/** The ways in which OpenAI and the servers compatible with it say that a request was too long. */
const overflow = new RegExp(
  [
    "context[_ -]?(?:length|window|size)[_ -]?(?:limit )?exceed",
    "maximum (?:context|prompt|input) length",
    "exceeds? (?:the )?(?:available |model'?s? |maximum |max )*context",
    "context (?:window|length|size) (?:of|is|exceeds|limit)",
    "(?:greater|longer|larger) than the (?:maximum |model'?s? )*context",
    "(?:prompt|input|request|message)s? (?:is|are|was) too (?:long|large)|prompt too long|input too long",
    "reduce the length of",
    "exceeded model token limit|input token count .{0,40} exceeds|exceed_context_size|string_above_max_length",
    "tokens? \\+ .?max_(?:new_)?tokens.? must be",
  ].join("|"),
  "i",
);
/** A rate limit speaks of tokens, too. */
const perMinute = /tokens? per (?:minute|min|day|hour)|\bTPM\b|rate.?limit/i;

export function isOverflow(message: string): boolean {
  return overflow.test(message) && !perMinute.test(message);
}

/** First match wins. Servers put the kind into `type`, `code`, `status` or only into the words. */
const kinds: readonly (readonly [RegExp, ErrorCode])[] = [
  [/content.?(?:filter|policy|management)/i, "content_filter"],
  [/\b(?:401|403)\b|authenti|unauthori[sz]ed|permission|forbidden|api.?key/i, "model_auth"],
  [/\b429\b|rate.?limit|quota|too many requests/i, "model_rate_limited"],
  [
    /\b(?:502|503|504|529)\b|overload|unavailable|capacity|busy|insufficient_system_resource/i,
    "model_overloaded",
  ],
  [/(?:model|deployment)_?not_?found|\b404\b/i, "model_not_found"],
  [/\b(?:400|413|422)\b|invalid|bad.?request|unsupported/i, "model_rejected"],
];

/** What an error inside a stream, or in place of an answer, means. */
export function chatFailure(error: unknown): AgentError {
  const fields = isRecord(error) ? error : { message: error };
  const message = typeof fields.message === "string" ? fields.message : "";
  const said = [fields.type, fields.code, fields.status, fields.status_code].filter(
    (value) => typeof value === "string" || typeof value === "number",
  );
  const text = `The provider reported an error: ${masked(message || said.join(" ") || "unknown").slice(0, longestMessage)}`;
  if (isOverflow(`${said.join(" ")} ${message}`)) return new AgentError("context_overflow", text);
  const about = said.join(" ");
  // What the fields say weighs more than the words, which may quote anything.
  const kind =
    kinds.find(([pattern]) => pattern.test(about)) ?? kinds.find(([pattern]) => pattern.test(message));
  const code = kind?.[1] ?? "model_failed";
  // A quota that is used up does not come back by waiting a second.
  return new AgentError(code, text, /insufficient_quota|billing/i.test(about) ? { retryable: false } : {});
}

import { AgentError, type ErrorCode } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { maskKeys } from "../http-failure.ts";

const maxMessageLength = 500;

/** Messages of OpenAI and compatible servers for a request that is too long. */
const overflowPattern = new RegExp(
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
/** Rate-limit messages mention tokens too. */
const rateLimitPattern = /tokens? per (?:minute|min|day|hour)|\bTPM\b|rate.?limit/i;

export function isChatOverflow(message: string): boolean {
  return overflowPattern.test(message) && !rateLimitPattern.test(message);
}

/** The first match wins. Servers report the cause in `type`, `code`, `status` or only in the message. */
const codePatterns: readonly (readonly [RegExp, ErrorCode])[] = [
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

/** Converts an error event or an error response. */
export function toChatError(error: unknown): AgentError {
  const fields = isRecord(error) ? error : { message: error };
  const message = typeof fields.message === "string" ? fields.message : "";
  const codes = [fields.type, fields.code, fields.status, fields.status_code].filter(
    (value) => typeof value === "string" || typeof value === "number",
  );
  const text = `The provider reported an error: ${maskKeys(message || codes.join(" ") || "unknown").slice(0, maxMessageLength)}`;
  if (isChatOverflow(`${codes.join(" ")} ${message}`)) return new AgentError("context_overflow", text);
  const codeText = codes.join(" ");
  // Fields take precedence over the message, which may quote anything.
  const kind =
    codePatterns.find(([pattern]) => pattern.test(codeText)) ??
    codePatterns.find(([pattern]) => pattern.test(message));
  const code = kind?.[1] ?? "model_failed";
  // Retrying does not restore an exhausted quota.
  return new AgentError(code, text, /insufficient_quota|billing/i.test(codeText) ? { retryable: false } : {});
}

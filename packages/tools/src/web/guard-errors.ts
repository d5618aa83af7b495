import { AgentError } from "capstan";

/** The rule that was violated. The message ends with its name. */
export type Rule =
  | "url"
  | "scheme"
  | "userinfo"
  | "port"
  | "name"
  | "address"
  | "metadata"
  | "own_origin"
  | "redirect"
  | "connection"
  | "tls"
  | "headers"
  | "coding"
  | "size"
  | "media_type"
  | "charset";

/** A permanent refusal. Messages contain no address that the caller did not supply. */
export function createGuardRefusal(rule: Rule, message: string, cause?: unknown): AgentError {
  return new AgentError("security", `${message} (rule: ${rule})`, {
    retryable: false,
    ...(cause !== undefined && { cause }),
  });
}

/** Converts a network error to one without the addresses that Node's messages contain. */
export function toFetchError(thrown: unknown, host: string): unknown {
  if (thrown instanceof AgentError) return thrown;
  const code = getErrorCode(thrown);
  if (code === "HPE_HEADER_OVERFLOW")
    return createGuardRefusal("headers", `The response headers of ${host} are too large.`, thrown);
  if (isCertificateError(code)) {
    const message = `The certificate of ${host} is not trusted (${code}). Use another source.`;
    return createGuardRefusal("tls", message, thrown);
  }
  const isUnknown = code === "ENOTFOUND";
  const what = isUnknown
    ? `Host not found: ${host}. Check the spelling.`
    : `Could not read from ${host}${code && ` (${code})`}.`;
  return new AgentError("tool_failed", what, { cause: thrown, retryable: !isUnknown });
}

function getErrorCode(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : "";
}

function isCertificateError(code: string): boolean {
  return /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_(?:GET|VERIFY|DECRYPT|DECODE)|CRL|INVALID_(?:CA|PURPOSE)/.test(
    code,
  );
}

import { AgentError } from "capstan";

/** The rule that a URL, a connection or an answer broke; the message ends with its name. */
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

/** What the guard does not do, whoever asks and however often. Its message names no address that nobody named. */
export function refusal(rule: Rule, message: string, cause?: unknown): AgentError {
  return new AgentError("security", `${message} (rule: ${rule})`, {
    retryable: false,
    ...(cause !== undefined && { cause }),
  });
}

/** What went wrong on the way, as an error that says so without the addresses that Node's own messages contain. */
export function failureOf(thrown: unknown, host: string): unknown {
  if (thrown instanceof AgentError) return thrown;
  const code = codeOf(thrown);
  if (code === "HPE_HEADER_OVERFLOW")
    return refusal("headers", `The headers of ${host} are larger than what is read.`, thrown);
  if (isOfCertificate(code)) {
    const message = `The certificate of ${host} cannot be trusted (${code}). Ask for another source.`;
    return refusal("tls", message, thrown);
  }
  const isUnknown = code === "ENOTFOUND";
  const what = isUnknown
    ? `There is no host named ${host}. Check the spelling.`
    : `${host} could not be read${code && ` (${code})`}.`;
  return new AgentError("tool_failed", what, { cause: thrown, retryable: !isUnknown });
}

function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : "";
}

function isOfCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_(?:GET|VERIFY|DECRYPT|DECODE)|CRL|INVALID_(?:CA|PURPOSE)/.test(
    code,
  );
}

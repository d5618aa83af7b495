import { AgentError, type ErrorCode } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { secretHeaders } from "./circuit.ts";
import type { PostResponse } from "./post.ts";
import type { Wire } from "./wire.ts";

const maxMessageLength = 500;
const maxRetryAfterMs = 24 * 3_600_000;
const maxBodyLength = 65_536;

type RequestInfo = {
  readonly wire: Wire;
  readonly id: string;
  /** As sent: their secrets are masked wherever the provider quotes them. */
  readonly headers: Readonly<Record<string, string>>;
};

/** Converts a non-2xx response into an error. API keys quoted by the provider are masked. */
export async function createResponseError(
  reply: PostResponse,
  { wire, id, headers }: RequestInfo,
): Promise<AgentError> {
  const { status, header } = reply;
  const body = await readErrorBody(reply);
  const message = maskKeys(maskHeaders(parseErrorMessage(body), headers)).slice(0, maxMessageLength);
  const text = `${id} responded with ${status}${message ? `: ${message}` : ""}`;
  const code = wire.isOverflow(message) && status < 500 ? "context_overflow" : toErrorCode(status, body);
  const retryAfterMs = parseRetryAfter(header);
  // Waiting does not restore an exhausted quota.
  const isRetryForbidden = header("x-should-retry") === "false" || /"insufficient_quota"/.test(body);
  return new AgentError(code, text, {
    ...(isRetryForbidden && { retryable: false }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function toErrorCode(status: number, body: string): ErrorCode {
  // Azure refuses a prompt that its filter rejects.
  if (status === 400 && /"code":\s*"content_filter"/.test(body)) return "content_filter";
  if (status === 401 || status === 403) return "model_auth";
  if (status === 404) return "model_not_found";
  if (status === 429) return "model_rate_limited";
  if (status === 408 || status === 409 || status === 424 || status >= 500) return "model_overloaded";
  return "model_rejected";
}

/** Returns milliseconds; undefined if missing, invalid or longer than a day. */
export function parseRetryAfter(header: (name: string) => string | undefined): number | undefined {
  const exactMs = Number(header("retry-after-ms") ?? Number.NaN);
  const retryAfter = header("retry-after");
  const seconds = retryAfter === undefined || retryAfter.trim() === "" ? Number.NaN : Number(retryAfter);
  const ms = Number.isFinite(exactMs) ? exactMs : seconds * 1000;
  return ms > 0 && ms <= maxRetryAfterMs ? ms : undefined;
}

async function readErrorBody(reply: PostResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  const read = reply.read((bytes) => {
    text += decoder.decode(bytes, { stream: true });
    return text.length > maxBodyLength ? false : undefined;
  });
  await read.catch(() => undefined); // a truncated error page is still usable
  return text;
}

/** Accepts `{ error: { message } }`, `{ message }`, `[{ error }]` and plain text. */
function parseErrorMessage(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    const root = Array.isArray(parsed) ? parsed[0] : parsed;
    const error = isRecord(root) && isRecord(root.error) ? root.error : root;
    if (isRecord(error) && typeof error.message === "string") return error.message;
    return isRecord(root) && typeof root.error === "string" ? root.error : body;
  } catch {
    return body;
  }
}

/** Replaces anything that looks like an API key: providers quote rejected keys. */
export function maskKeys(text: string): string {
  const looksLikeKey =
    /\b(?:(?:sk|pk|rk|gsk|xai|key|bedrock-api-key)[-_][\w*.-]{8,}|(?:AIza|ABSK|ya29\.)[\w.+/-]{20,}|eyJ[\w-]{6,}\.[\w.-]+|Bearer [\w.~+/-]{8,})/g;
  return text.replace(looksLikeKey, "***");
}

const minSecretLength = 8;

/** Replaces the secrets of the request's headers: some providers quote the request that they refuse. */
function maskHeaders(text: string, headers: RequestInfo["headers"]): string {
  let masked = text;
  for (const [name, value] of Object.entries(headers)) {
    const secret = secretHeaders.has(name.toLowerCase()) ? value.replace(/^Bearer /, "") : "";
    if (secret.length >= minSecretLength) masked = masked.replaceAll(secret, "***");
  }
  return masked;
}

/** Converts a connection error; an `AgentError` is returned unchanged. */
export function toNetworkError(thrown: unknown, id: string, url: string): unknown {
  if (thrown instanceof AgentError) return thrown;
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const reason = cause instanceof Error ? cause : new Error(String(cause));
  const code = "code" in reason ? String(reason.code) : "";
  if (reason.name === "AbortError") return thrown;
  const host = URL.canParse(url) ? new URL(url).host : "its URL";
  const isTls = /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code);
  return new AgentError(
    isTls ? "model_tls_error" : "model_unreachable",
    `Cannot reach ${id} at ${host}${code ? ` (${code})` : ""}.`,
    { cause: thrown },
  );
}

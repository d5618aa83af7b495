import { AgentError, type ErrorCode } from "../errors.ts";
import { isRecord } from "../json.ts";
import type { Reply } from "./post.ts";
import type { Wire } from "./wire.ts";

const longestMessage = 500;
const longestRetryAfterMs = 24 * 3_600_000;
const mostBytes = 65_536;

/** What an answer other than 200 means. Keys that a provider quotes are masked. */
export async function failedReply(reply: Reply, wire: Wire, id: string): Promise<AgentError> {
  const { status, header } = reply;
  const said = masked(messageIn(await beginning(reply))).slice(0, longestMessage);
  const text = `${id} answered ${status}${said ? `: ${said}` : ""}`;
  const code = wire.isOverflow(said) && status < 500 ? "context_overflow" : codeOf(status);
  const retryAfterMs = retryAfter(header);
  const forbidden = header("x-should-retry") === "false";
  return new AgentError(code, text, {
    ...(forbidden && { retryable: false }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return "model_auth";
  if (status === 404) return "model_not_found";
  if (status === 429) return "model_rate_limited";
  if (status === 408 || status === 409 || status >= 500) return "model_overloaded";
  return "model_rejected";
}

/** In milliseconds; nothing when it is missing, nonsense, or longer than a day. */
export function retryAfter(header: (name: string) => string | undefined): number | undefined {
  const exact = Number(header("retry-after-ms") ?? Number.NaN);
  const told = header("retry-after");
  const seconds = told === undefined || told.trim() === "" ? Number.NaN : Number(told);
  const ms = Number.isFinite(exact) ? exact : seconds * 1000;
  return ms > 0 && ms <= longestRetryAfterMs ? ms : undefined;
}

async function beginning(reply: Reply): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  const read = reply.read((bytes) => {
    text += decoder.decode(bytes, { stream: true });
    return text.length > mostBytes ? false : undefined;
  });
  await read.catch(() => undefined); // an error page that breaks off is still an error
  return text;
}

/** Providers say it as `{ error: { message } }`, `{ message }`, a list of the first, or in plain words. */
function messageIn(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    const whole = Array.isArray(parsed) ? parsed[0] : parsed;
    const error = isRecord(whole) && isRecord(whole.error) ? whole.error : whole;
    if (isRecord(error) && typeof error.message === "string") return error.message;
    return isRecord(whole) && typeof whole.error === "string" ? whole.error : body;
  } catch {
    return body;
  }
}

/** Anything that looks like a key: providers quote what they refuse. */
export function masked(text: string): string {
  const looksLikeKey = /\b(?:(?:sk|pk|rk|gsk|xai|key)[-_][\w*.-]{8,}|AIza[\w-]{20,}|Bearer [\w.~+/-]{8,})/g;
  return text.replace(looksLikeKey, "***");
}

/** What a failure of the connection means; an `AgentError` stays what it is. */
export function networkFailure(thrown: unknown, id: string, url: string): unknown {
  if (thrown instanceof AgentError) return thrown;
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const reason = cause instanceof Error ? cause : new Error(String(cause));
  const code = "code" in reason ? String(reason.code) : "";
  if (reason.name === "AbortError") return thrown;
  const host = URL.canParse(url) ? new URL(url).host : "its address";
  const isTls = /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code);
  return new AgentError(
    isTls ? "model_tls_error" : "model_unreachable",
    `${id} at ${host} cannot be reached${code ? ` (${code})` : ""}.`,
    { cause: thrown },
  );
}

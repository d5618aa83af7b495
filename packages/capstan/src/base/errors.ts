export type ErrorCode =
  | "invalid_definition"
  | "unsupported_node"
  | "invalid_input"
  | "invalid_context"
  | "unknown_agent"
  | "unknown_run"
  | "unknown_call"
  | "session_busy"
  | "queue_full"
  | "approval_conflict"
  | "approval_expired"
  | "run_ended"
  | "not_retryable"
  | "quarantined"
  | "position_conflict"
  | "lease_lost"
  | "newer_version"
  | "run_stuck"
  | "store_failed"
  | "store_busy"
  | "store_full"
  | "model_failed"
  | "model_timeout"
  | "model_unreachable"
  | "model_tls_error"
  | "model_auth"
  | "model_rejected"
  | "model_not_found"
  | "model_file_invalid"
  | "out_of_memory"
  | "model_rate_limited"
  | "model_overloaded"
  | "context_overflow"
  | "bad_chunk"
  | "chunk_too_large"
  | "stream_truncated"
  | "stream_inconsistent"
  | "empty_response"
  | "output_truncated"
  | "answer_incomplete"
  | "content_filter"
  | "output_invalid"
  | "embedding_invalid"
  | "instructions_failed"
  | "settings_failed"
  | "unknown_tool"
  | "bad_arguments"
  | "not_found"
  | "tool_failed"
  | "tool_timeout"
  | "tool_denied"
  | "tool_skipped"
  | "tool_interrupted"
  | "tool_crashed"
  | "too_many_calls"
  | "approval_mismatch"
  | "result_invalid"
  | "security"
  | "sandbox_unavailable"
  | "program_failed"
  | "mcp_config"
  | "mcp_disconnected"
  | "mcp_protocol"
  | "mcp_untrusted"
  | "unauthorized"
  | "forbidden"
  | "no_route"
  | "method_not_allowed"
  | "request_timeout"
  | "idempotency_conflict"
  | "schedule_missed"
  | "body_too_large"
  | "unsupported_media_type"
  | "file_invalid"
  | "file_limit"
  | "misdirected"
  | "rate_limited"
  | "quota_exceeded"
  | "overloaded"
  | "draining"
  | "internal"
  | "data_loading"
  | "data_failed"
  | "recording_missing"
  | "eval_failed"
  | "server_unreachable"
  | "aborted"
  | "cancelled"
  | "max_turns"
  | "budget_tokens"
  | "budget_cost"
  | "budget_seconds"
  | "budget_tool_calls"
  | "budget_model_calls"
  | "budget_agents"
  | "stuck_loop";

/** A mistake in a program or its surroundings, which the caller cannot correct. */
const faultInfo = { status: 500, retryable: false };
/** A limit of the policy. */
const limitInfo = { status: 422, retryable: false };

/**
 * Every error has a code from this table. `status` is the HTTP status a server answers with;
 * `retryable` is whether the same attempt may succeed later. `docs/errors.md` explains each code.
 */
export const errorCodes: Readonly<
  Record<ErrorCode, { readonly status: number; readonly retryable: boolean }>
> = {
  invalid_definition: faultInfo,
  unsupported_node: faultInfo,
  invalid_input: { status: 400, retryable: false },
  invalid_context: faultInfo,
  unknown_agent: { status: 404, retryable: false },
  unknown_run: { status: 404, retryable: false },
  unknown_call: { status: 404, retryable: false },
  session_busy: { status: 409, retryable: true },
  queue_full: { status: 429, retryable: true },
  approval_conflict: { status: 409, retryable: false },
  approval_expired: { status: 410, retryable: false },
  run_ended: { status: 409, retryable: false },
  not_retryable: { status: 409, retryable: false },
  quarantined: faultInfo,
  position_conflict: { status: 409, retryable: true },
  lease_lost: { status: 409, retryable: true },
  newer_version: { status: 409, retryable: false },
  run_stuck: { status: 409, retryable: false },
  store_failed: { status: 500, retryable: true },
  store_busy: { status: 503, retryable: true },
  store_full: { status: 507, retryable: true },
  model_failed: { status: 502, retryable: true },
  model_timeout: { status: 504, retryable: true },
  model_unreachable: { status: 502, retryable: true },
  model_tls_error: { status: 502, retryable: false },
  model_auth: { status: 401, retryable: false },
  model_rejected: { status: 400, retryable: false },
  model_not_found: { status: 404, retryable: false },
  model_file_invalid: faultInfo,
  out_of_memory: { status: 507, retryable: false },
  model_rate_limited: { status: 429, retryable: true },
  model_overloaded: { status: 503, retryable: true },
  context_overflow: { status: 413, retryable: false },
  bad_chunk: { status: 502, retryable: true },
  chunk_too_large: { status: 502, retryable: false },
  stream_truncated: { status: 502, retryable: true },
  stream_inconsistent: { status: 502, retryable: true },
  empty_response: { status: 502, retryable: true },
  output_truncated: { status: 502, retryable: false },
  answer_incomplete: { status: 502, retryable: true },
  content_filter: { status: 422, retryable: false },
  output_invalid: { status: 502, retryable: false },
  embedding_invalid: { status: 502, retryable: false },
  instructions_failed: faultInfo,
  settings_failed: faultInfo,
  unknown_tool: { status: 404, retryable: false },
  bad_arguments: { status: 400, retryable: false },
  not_found: { status: 404, retryable: false },
  tool_failed: { status: 500, retryable: true },
  tool_timeout: { status: 504, retryable: true },
  tool_denied: { status: 403, retryable: false },
  tool_skipped: { status: 409, retryable: false },
  tool_interrupted: faultInfo,
  tool_crashed: faultInfo,
  too_many_calls: { status: 429, retryable: false },
  approval_mismatch: { status: 409, retryable: false },
  result_invalid: faultInfo,
  security: { status: 403, retryable: false },
  sandbox_unavailable: faultInfo,
  program_failed: { status: 422, retryable: false },
  mcp_config: faultInfo,
  mcp_disconnected: { status: 502, retryable: true },
  mcp_protocol: { status: 502, retryable: false },
  mcp_untrusted: { status: 403, retryable: false },
  unauthorized: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  no_route: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  request_timeout: { status: 408, retryable: true },
  idempotency_conflict: { status: 409, retryable: false },
  schedule_missed: faultInfo,
  body_too_large: { status: 413, retryable: false },
  unsupported_media_type: { status: 415, retryable: false },
  file_invalid: { status: 422, retryable: false },
  file_limit: { status: 413, retryable: false },
  misdirected: { status: 421, retryable: false },
  rate_limited: { status: 429, retryable: true },
  quota_exceeded: { status: 429, retryable: true },
  overloaded: { status: 503, retryable: true },
  draining: { status: 503, retryable: true },
  internal: { status: 500, retryable: true },
  data_loading: { status: 409, retryable: true },
  data_failed: { status: 409, retryable: false },
  recording_missing: { status: 404, retryable: false },
  eval_failed: { status: 422, retryable: false },
  server_unreachable: { status: 502, retryable: true },
  aborted: { status: 499, retryable: false },
  cancelled: { status: 499, retryable: false },
  max_turns: limitInfo,
  budget_tokens: limitInfo,
  budget_cost: limitInfo,
  budget_seconds: limitInfo,
  budget_tool_calls: limitInfo,
  budget_model_calls: limitInfo,
  budget_agents: limitInfo,
  stuck_loop: limitInfo,
};

/** Errors that a provider which is down causes, and that pass when it is back. */
const outageCodes: ReadonlySet<string> = new Set<ErrorCode>([
  "model_unreachable",
  "model_overloaded",
  "model_rate_limited",
  "model_timeout",
  "stream_truncated",
]);

/** Whether the error means that the model's provider is down. Other errors blame the request or one answer. */
export function isOutage({
  code,
  retryable = true,
}: {
  readonly code: string;
  readonly retryable?: boolean;
}): boolean {
  return retryable && outageCodes.has(code);
}

/** Whether a model or its provider failed: the message may quote the provider and name the operator's account. */
export function isModelError(code: string): boolean {
  return code.startsWith("model_") || code === "context_overflow" || unusableCodes.has(code);
}

/** The provider answered, but not with something that can be used. */
const unusableCodes: ReadonlySet<string> = new Set<ErrorCode>([
  "bad_chunk",
  "chunk_too_large",
  "stream_truncated",
  "stream_inconsistent",
  "empty_response",
]);

/** An error as plain data, for facts, results and wire formats. `code` may be defined by a tool. */
export type ErrorData = {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  /** How long the provider asks to wait before a retry. */
  readonly retryAfterMs?: number;
};

/** The only error class. Check `code` instead of using `instanceof`, which fails across copies of the package. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.retryable = options.retryable ?? errorCodes[code].retryable;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}

type ErrorOptions = {
  readonly cause?: unknown;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
};

export function toErrorData(code: ErrorCode, message: string): ErrorData & { readonly code: ErrorCode } {
  return { code, message, retryable: errorCodes[code].retryable };
}

const maxMessageLength = 4096;
const maxCodeLength = 128;

/**
 * Converts any thrown value to `ErrorData`: strings, null, frozen errors, objects whose getters throw. Never throws.
 * Keeps the value's own `code` and `retryable`; `fallback` supplies them otherwise.
 */
export function describeThrown(thrown: unknown, fallback: ErrorCode): ErrorData {
  const retryAfterMs = readProperty(thrown, "retryAfterMs");
  const isAbort = readString(thrown, "name") === "AbortError";
  const code = readString(thrown, "code")?.slice(0, maxCodeLength) ?? (isAbort ? "aborted" : undefined);
  const codeInfo =
    code && Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode] : errorCodes[fallback];
  return {
    code: code || fallback,
    message: truncateMessage(getThrownMessage(thrown)),
    retryable: readBoolean(thrown, "retryable") ?? codeInfo.retryable,
    ...(typeof retryAfterMs === "number" && { retryAfterMs }),
  };
}

function getThrownMessage(thrown: unknown): string {
  const message = readString(thrown, "message");
  if (message !== undefined) return message || readString(thrown, "name") || "Unknown error";
  if (typeof thrown === "object" && thrown !== null)
    return "Unknown error (an object without a message was thrown)";
  if (typeof thrown === "function") return "Unknown error (a function was thrown)";
  return `Unknown error (thrown: ${String(thrown)})`;
}

/** Truncates text of unknown origin to a length that is safe to log. */
export function truncateMessage(text: string): string {
  if (text.length <= maxMessageLength) return text;
  return `${text.slice(0, maxMessageLength).toWellFormed()}… (${text.length - maxMessageLength} more characters)`;
}

function readString(owner: unknown, key: string): string | undefined {
  const value = readProperty(owner, key);
  return typeof value === "string" ? value : undefined;
}

function readBoolean(owner: unknown, key: string): boolean | undefined {
  const value = readProperty(owner, key);
  return typeof value === "boolean" ? value : undefined;
}

function readProperty(owner: unknown, key: string): unknown {
  if ((typeof owner !== "object" && typeof owner !== "function") || owner === null) return undefined;
  try {
    return Reflect.get(owner, key);
  } catch {
    return undefined; // the getter threw
  }
}

import { type ErrorCode, errorCodes } from "capstan";
import { type ExceededQuota, isConcurrent } from "../access/quota-error.ts";

/** The body of an error for clients of OpenAI's APIs. */
export type OpenaiError = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
};

/** Codes with another name in OpenAI's API. */
const codeNames: { readonly [code: string]: string } = {
  unknown_agent: "model_not_found",
  unauthorized: "invalid_api_key",
  rate_limited: "rate_limit_exceeded",
  quota_exceeded: "insufficient_quota",
  model_rate_limited: "rate_limit_exceeded",
  context_overflow: "context_length_exceeded",
  // Errors of the agent's provider; the original name would blame the client's key or model.
  model_auth: "upstream_error",
  model_not_found: "upstream_error",
};

/** A provider's failure is not the client's, whatever the provider's status. */
const codeStatuses: { readonly [code: string]: number } = {
  model_auth: 502,
  model_not_found: 502,
  context_overflow: 400,
  cancelled: 503,
  aborted: 503,
};

export function toOpenaiError({ code, message, quota }: ClientFailure): OpenaiError {
  const name = isRateLimit(quota) ? "rate_limit_exceeded" : (codeNames[code] ?? code);
  const param = code === "unknown_agent" ? "model" : null;
  return { error: { message, type: getErrorType(getFailureStatus(code)), param, code: name } };
}

type ClientFailure = {
  readonly code: string;
  readonly message: string;
  readonly quota?: ExceededQuota | undefined;
};

/** Whether a quota is free again soon, so that a client does well to retry. */
function isRateLimit(quota: ExceededQuota | undefined): boolean {
  return quota !== undefined && (isConcurrent(quota.name) || quota.window === "minute");
}

/** Returns the status of a failed run for a client of another API. */
export function getFailureStatus(code: string): number {
  return codeStatuses[code] ?? (Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].status : 500);
}

function getErrorType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

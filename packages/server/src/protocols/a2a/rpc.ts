import { AgentError } from "capstan";
import { z } from "zod";
import { toAgentError } from "../client-error.ts";

export type RpcId = string | number | null;

export type RpcRequest = { readonly id: RpcId; readonly method: string; readonly params: unknown };

/** Error codes of JSON-RPC and A2A. */
const codes = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  VERSION_NOT_SUPPORTED: -32009,
} as const;

export type RpcReason = keyof typeof codes;

export type RpcError = { readonly code: number; readonly message: string; readonly data: readonly object[] };

export function createRpcError(
  reason: RpcReason,
  message: string,
  metadata?: Record<string, string>,
): RpcError {
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" };
  return { code: codes[reason], message, data: [{ ...info, ...(metadata && { metadata }) }] };
}

const envelope = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string().max(1000), z.number()]),
  method: z.string().max(200),
  params: z.unknown().optional(),
});

/** Parses a request; undefined if invalid. Batches and notifications are not supported. */
export function parseRpcRequest(body: unknown): RpcRequest | undefined {
  const { success, data } = envelope.safeParse(body);
  return success ? { ...data, params: data.params ?? {} } : undefined;
}

/** Parses the params of a method. Throws `invalid_input`. */
export function parseRpcParams<Params>(schema: z.ZodType<Params>, params: unknown): Params {
  const { success, data, error } = schema.safeParse(params);
  if (success) return data;
  const [issue] = error.issues;
  const at = issue?.path.length ? ` at ${issue.path.join(".")}` : "";
  throw new AgentError("invalid_input", `Invalid params${at}: ${issue?.message}.`);
}

/** Reported as HTTP errors, because they concern the connection or the caller rather than a task. */
const transportCodes: readonly string[] = [
  ...["unauthorized", "forbidden", "unknown_agent", "request_timeout", "aborted"],
  ...["rate_limited", "quota_exceeded", "overloaded", "draining"],
];

const reasons: { readonly [code: string]: RpcReason } = {
  unknown_run: "TASK_NOT_FOUND",
  run_ended: "UNSUPPORTED_OPERATION",
  session_busy: "UNSUPPORTED_OPERATION",
  unsupported_media_type: "CONTENT_TYPE_NOT_SUPPORTED",
  internal: "INTERNAL_ERROR",
};

/** Converts an error thrown by a method. Rethrows transport errors. */
export function toRpcError(thrown: unknown, method: string, report: (thrown: unknown) => string): RpcError {
  const { code, message } = toAgentError(thrown, report);
  if (transportCodes.includes(code)) throw thrown;
  const isEnd = code === "run_ended" && method === "CancelTask";
  return createRpcError(isEnd ? "TASK_NOT_CANCELABLE" : (reasons[code] ?? "INVALID_PARAMS"), message, {
    code,
  });
}

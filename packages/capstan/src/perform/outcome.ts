import { type ErrorCode, type ErrorData, errorCodes, errorData, shortened } from "../errors.ts";
import type { Part } from "../history.ts";
import { isRecord, type Json } from "../json.ts";
import type { Outcome, ToolReturn } from "../tool.ts";

const ours = new Set(["content", "data", "message", "ui", "contexts", "affected", "error", "retryable"]);

/** One shape for whatever a tool returned. */
export function outcomeOf(returned: unknown): Outcome {
  if (!isToolReturn(returned)) return { status: "ok", content: asText(returned) };
  const { error, ui, contexts, affected } = returned;
  const data =
    returned.data === undefined ? undefined : (JSON.parse(asText(returned.data, JSON.stringify)) as Json);
  const rest = {
    ...(data !== undefined && { data }),
    ...(ui && { ui }),
    ...(contexts && { contexts }),
    ...(affected !== undefined && { affected }),
  };
  if (error !== undefined) {
    return { ...failed(failureOf(error, returned.retryable)), ...rest };
  }
  return { status: "ok", content: contentOf(returned, data), ...rest };
}

/** An object whose keys are all ours is meant for us; any other object is the tool's own value. */
function isToolReturn(returned: unknown): returned is ToolReturn {
  if (!isRecord(returned)) return false;
  const keys = Object.keys(returned);
  if (keys.length === 0 || !keys.every((key) => ours.has(key))) return false;
  const { content, error } = returned;
  if (content !== undefined && typeof content !== "string" && !isParts(content)) return false;
  return (
    error === undefined || typeof error === "string" || (isRecord(error) && typeof error.message === "string")
  );
}

function isParts(content: unknown): content is readonly Part[] {
  return (
    Array.isArray(content) &&
    content.every((part) => isRecord(part) && ["text", "image", "file"].includes(String(part.type)))
  );
}

function failureOf(error: NonNullable<ToolReturn["error"]>, retryable: boolean | undefined): ErrorData {
  const { code = "tool_failed", message } = typeof error === "string" ? { message: error } : error;
  const known = Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].retryable : true;
  return { code, message: shortened(message), retryable: retryable ?? known };
}

function contentOf({ content, message }: ToolReturn, data: Json | undefined): string | readonly Part[] {
  if (content !== undefined) return content;
  if (data === undefined) return message ?? "";
  return asText(message === undefined ? data : { message, data });
}

function asText(value: unknown, write: (value: unknown) => string | undefined = readable): string {
  return write(value) ?? "";
}

function readable(value: unknown): string | undefined {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The result of a call that failed. The model reads the content; our own sentences already say what happened. */
export function failed(error: ErrorData): Outcome {
  const isOwn = error.code !== "tool_failed" && Object.hasOwn(errorCodes, error.code);
  const content = isOwn ? error.message : `Tool execution failed: ${error.message}`;
  return { status: error.code === "approval_mismatch" ? "denied" : "error", content, error };
}

export const interrupted: Outcome = {
  status: "interrupted",
  content: "The run was cancelled while this call ran; it may or may not have taken effect.",
  error: errorData("tool_interrupted", "The run was cancelled while this call ran."),
};

import {
  describeThrown,
  type ErrorCode,
  type ErrorData,
  errorCodes,
  toErrorData,
  truncateMessage,
} from "../../base/errors.ts";
import { isRecord, type Json } from "../../base/json.ts";
import type { Part } from "../history.ts";
import type { Outcome, Tool, ToolReturn } from "../tool.ts";
import { isBinary } from "./binary.ts";
import { isPartialList } from "./read-tool-output.ts";
import { toLimitedJson } from "./to-json.ts";
import { asToolReturn } from "./tool-return.ts";
import { formatNumber } from "./truncate-text.ts";

/** Generous: content that is too long for the model is stored, and can be read later. */
const outcomeLimits = { characters: 20_000_000 };

/**
 * Converts any returned value to an outcome: a string, undefined, bytes, one of the shapes in `tool-return.ts`, or any
 * other value, which becomes the data, with its JSON as the content. Never throws.
 */
export function toOutcome(returned: unknown): Outcome {
  if (returned === undefined) return { status: "ok", content: "" };
  if (typeof returned === "string") return { status: "ok", content: returned.toWellFormed() };
  if (isBinary(returned)) {
    const { bytes, mediaType, isCut } = returned;
    const content = `[${mediaType}, ${formatNumber(bytes.length)} bytes${isCut ? ", and more that were not read" : ""}]`;
    return { status: "ok", content, binary: { mediaType, bytes } };
  }
  const toolReturn = asToolReturn(returned);
  if (toolReturn) return fromToolReturn(toolReturn);
  const { json: data, isCut } = toLimitedJson(returned, outcomeLimits);
  const isPartial = isCut || isPartialList(returned);
  return { status: "ok", content: JSON.stringify(data), data, ...(isPartial && { isPartial }) };
}

function fromToolReturn(toolReturn: ToolReturn): Outcome {
  const { error, content, message, ui, contexts, affected, reads } = toolReturn;
  const limited = toolReturn.data === undefined ? undefined : toLimitedJson(toolReturn.data, outcomeLimits);
  const data = limited?.json;
  const rest = {
    ...(data !== undefined && { data }),
    ...(limited?.isCut && content === undefined && { isPartial: true as const }),
    ...(ui && { ui }),
    ...(contexts && { contexts }),
    ...(affected !== undefined && { affected }),
    ...(reads && { reads }),
    // Without content and data, the message is the content.
    ...(message !== undefined &&
      (content ?? data) !== undefined && { message: cutLine(message).toWellFormed() }),
  };
  const ownContent = typeof content === "string" ? content.toWellFormed() : content;
  if (error === undefined)
    return { status: "ok", content: ownContent ?? buildContent(message, data), ...rest };
  const failure = createFailedOutcome(toFailure(error, toolReturn.retryable));
  return { ...failure, ...(ownContent !== undefined && { content: ownContent }), ...rest };
}

function toFailure(error: NonNullable<ToolReturn["error"]>, retryable: boolean | undefined): ErrorData {
  const { code = "tool_failed", message } = typeof error === "string" ? { message: error } : error;
  const defaultRetryable = Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].retryable : true;
  return { code, message: truncateMessage(message).toWellFormed(), retryable: retryable ?? defaultRetryable };
}

function buildContent(message: string | undefined, data: Json | undefined): string {
  if (data === undefined) return (message ?? "").toWellFormed();
  if (message !== undefined) return JSON.stringify({ message, data });
  return typeof data === "string" ? data : JSON.stringify(data);
}

/** Creates the outcome of a failed call. Messages of our own error codes go to the model without a prefix. */
export function createFailedOutcome(error: ErrorData): Outcome {
  const isOwn = error.code !== "tool_failed" && Object.hasOwn(errorCodes, error.code);
  const content = isOwn ? error.message : `Tool execution failed: ${error.message}`;
  return { status: error.code === "approval_mismatch" ? "denied" : "error", content, error };
}

export const interrupted: Outcome = {
  status: "interrupted",
  content: "The run was cancelled while this call ran; it may or may not have taken effect.",
  error: toErrorData("tool_interrupted", "The run was cancelled while this call ran."),
};

export type ViewOptions = { readonly includeData: boolean } & Pick<Tool, "resultForModel">;

/**
 * Returns the outcome as the model reads it: in full, as one line, as formatted by the tool's own function or, without
 * `includeData`, only the text that came with the data. Never throws.
 */
export function filterForModel(
  outcome: Outcome,
  { includeData, resultForModel = "full" }: ViewOptions,
): Outcome {
  if (typeof resultForModel === "function") return applyView(resultForModel, outcome, includeData);
  const isHidden = !includeData && outcome.data !== undefined;
  if (resultForModel === "full" && !isHidden) return outcome;
  const content =
    getOwnContent(outcome) ??
    (isHidden ? "The call succeeded. Its data is not shown to you." : outcome.content);
  return withoutData(outcome, resultForModel === "summary" ? toFirstLine(content) : content);
}

function withoutData({ data: _, ...outcome }: Outcome, content: Outcome["content"]): Outcome {
  return { ...outcome, content };
}

function applyView(view: (outcome: Outcome) => string, outcome: Outcome, includeData: boolean): Outcome {
  let problem = "it returned no text";
  try {
    const content: unknown = view(outcome);
    if (typeof content === "string") return withoutData(outcome, content.toWellFormed());
    // A promise cannot be used here; its rejection must not end the process.
    Promise.resolve(content).catch(() => undefined);
  } catch (thrown) {
    problem = describeThrown(thrown, "tool_failed").message;
  }
  const fullView = filterForModel(outcome, { includeData });
  const note = `(Formatting this result for you failed: ${problem})`;
  const content =
    typeof fullView.content === "string"
      ? `${fullView.content}\n${note}`
      : [...fullView.content, { type: "text", text: note } as const];
  return { ...fullView, content };
}

/** Returns the tool's own content or message besides its data; undefined when the content is just the data. */
function getOwnContent({ content, data, error }: Outcome): string | readonly Part[] | undefined {
  if (error && data !== undefined) return createFailedOutcome(error).content;
  if (data === undefined || typeof content !== "string") return content;
  if (content === data || content === JSON.stringify(data)) return undefined;
  const parsed = content.startsWith("{") ? tryParseJson(content) : undefined;
  if (!isRecord(parsed) || !Object.hasOwn(parsed, "data")) return content;
  return typeof parsed.message === "string" ? parsed.message : undefined;
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // text that starts with a bracket
  }
}

const maxSummaryLength = 200;

function toFirstLine(content: Outcome["content"]): Outcome["content"] {
  return typeof content === "string" ? cutLine(content) : content;
}

function cutLine(content: string): string {
  const [line = ""] = content.split("\n", 1);
  const head = line.length > maxSummaryLength ? line.slice(0, maxSummaryLength - 1).toWellFormed() : line;
  return head.length < content.length ? `${head}…` : head;
}

import {
  describeThrown,
  type ErrorCode,
  type ErrorData,
  errorCodes,
  toErrorData,
  truncateMessage,
} from "../errors.ts";
import type { Part } from "../history.ts";
import { isRecord, type Json } from "../json.ts";
import type { Outcome, Tool, ToolReturn } from "../tool.ts";
import { isBinary } from "./binary.ts";
import { toJson } from "./to-json.ts";
import { asToolReturn } from "./tool-return.ts";
import { formatNumber } from "./truncate-text.ts";

/** What the model does not get to read of it is kept, and can be read: so little is left out here. */
const outcomeLimits = { characters: 20_000_000 };

/**
 * One form for whatever a tool returned: a text, nothing, bytes, one of the shapes of `tool-shapes.ts`, or any value,
 * which is then data and its JSON the content. Never throws.
 */
export function toOutcome(returned: unknown): Outcome {
  if (returned === undefined) return { status: "ok", content: "" };
  if (typeof returned === "string") return { status: "ok", content: returned.toWellFormed() };
  if (isBinary(returned)) {
    const { bytes, mediaType, isCut } = returned;
    const content = `[${mediaType}, ${formatNumber(bytes.length)} bytes${isCut ? ", and more that were not read" : ""}]`;
    return { status: "ok", content, binary: { mediaType, bytes } };
  }
  const said = asToolReturn(returned);
  if (said) return fromToolReturn(said);
  const data = toJson(returned, outcomeLimits);
  return { status: "ok", content: JSON.stringify(data), data };
}

function fromToolReturn(said: ToolReturn): Outcome {
  const { error, content, message, ui, contexts, affected } = said;
  const data = said.data === undefined ? undefined : toJson(said.data, outcomeLimits);
  const rest = {
    ...(data !== undefined && { data }),
    ...(ui && { ui }),
    ...(contexts && { contexts }),
    ...(affected !== undefined && { affected }),
    // A message alone is the content.
    ...(message !== undefined &&
      (content ?? data) !== undefined && { message: cutLine(message).toWellFormed() }),
  };
  const words = typeof content === "string" ? content.toWellFormed() : content;
  if (error === undefined) return { status: "ok", content: words ?? buildContent(message, data), ...rest };
  const failure = createFailedOutcome(toFailure(error, said.retryable));
  return { ...failure, ...(words !== undefined && { content: words }), ...rest };
}

function toFailure(error: NonNullable<ToolReturn["error"]>, retryable: boolean | undefined): ErrorData {
  const { code = "tool_failed", message } = typeof error === "string" ? { message: error } : error;
  const known = Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].retryable : true;
  return { code, message: truncateMessage(message).toWellFormed(), retryable: retryable ?? known };
}

function buildContent(message: string | undefined, data: Json | undefined): string {
  if (data === undefined) return (message ?? "").toWellFormed();
  if (message !== undefined) return JSON.stringify({ message, data });
  return typeof data === "string" ? data : JSON.stringify(data);
}

/** The result of a call that failed. The model reads the content; our own sentences already say what happened. */
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
 * The outcome as the model gets to read it: all of it, a line about it, what the tool's own function makes of it, or,
 * without `includeData`, only the words that came with the data. Never throws.
 */
export function filterForModel(
  outcome: Outcome,
  { includeData, resultForModel = "full" }: ViewOptions,
): Outcome {
  if (typeof resultForModel === "function") return applyView(resultForModel, outcome, includeData);
  const isHidden = !includeData && outcome.data !== undefined;
  if (resultForModel === "full" && !isHidden) return outcome;
  const words =
    getOwnContent(outcome) ??
    (isHidden ? "The call succeeded. Its data is not shown to you." : outcome.content);
  return withoutData(outcome, resultForModel === "summary" ? toFirstLine(words) : words);
}

function withoutData({ data: _, ...outcome }: Outcome, content: Outcome["content"]): Outcome {
  return { ...outcome, content };
}

function applyView(view: (outcome: Outcome) => string, outcome: Outcome, includeData: boolean): Outcome {
  let problem = "it gave no text";
  try {
    const content: unknown = view(outcome);
    if (typeof content === "string") return withoutData(outcome, content.toWellFormed());
    // A promise is of no use here, and its rejection must not end the process.
    Promise.resolve(content).catch(() => undefined);
  } catch (thrown) {
    problem = describeThrown(thrown, "tool_failed").message;
  }
  const whole = filterForModel(outcome, { includeData });
  const note = `(The view of this result for you failed: ${problem})`;
  const content =
    typeof whole.content === "string"
      ? `${whole.content}\n${note}`
      : [...whole.content, { type: "text", text: note } as const];
  return { ...whole, content };
}

/** What a tool said beside its data: its own content or message. Nothing when the content is the data itself. */
function getOwnContent({ content, data, error }: Outcome): string | readonly Part[] | undefined {
  if (error && data !== undefined) return createFailedOutcome(error).content;
  if (data === undefined || typeof content !== "string") return content;
  if (content === data || content === JSON.stringify(data)) return undefined;
  const written = content.startsWith("{") ? tryParseJson(content) : undefined;
  if (!isRecord(written) || !Object.hasOwn(written, "data")) return content;
  return typeof written.message === "string" ? written.message : undefined;
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // words that begin with a bracket
  }
}

const maxSummaryLength = 200;

function toFirstLine(content: Outcome["content"]): Outcome["content"] {
  return typeof content === "string" ? cutLine(content) : content;
}

function cutLine(content: string): string {
  const [line = ""] = content.split("\n", 1);
  const shown = line.length > maxSummaryLength ? line.slice(0, maxSummaryLength - 1).toWellFormed() : line;
  return shown.length < content.length ? `${shown}…` : shown;
}

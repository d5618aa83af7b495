import type { Json } from "../../base/json.ts";
import type { FactBody } from "../event.ts";
import { toPlainText } from "../history.ts";
import type { Io } from "../io.ts";
import type { Policy, ResultSize } from "../policy.ts";
import { formatReadHint } from "../read-result.ts";
import type { Outcome, Tool } from "../tool.ts";
import { filterForModel } from "./outcome.ts";
import { toLimitedJson } from "./to-json.ts";
import { truncateText } from "./truncate-text.ts";

/** Larger data is stored only in the blob, because the log is read often. */
const maxDataInLog = 100_000;

/** An outcome for the log and the model, with a handle to the full result if it was truncated. */
export type TruncatedOutcome = Omit<Outcome, "binary"> & { readonly handle?: string };

/** Whether an outcome is nothing but text within its size limit, as most are: then there is nothing to truncate. */
export function isShortText({ content, data, binary }: Outcome, size: ResultSize): boolean {
  if (typeof content !== "string" || data !== undefined || binary) return false;
  return content.length <= resolveMaxCharacters(size, "text");
}

/** Truncates a result to its size limit. The full result is stored and can be read by its handle. Rejects if the store does. */
export async function truncateOutcome(
  outcome: Outcome,
  size: ResultSize,
  blobs: Pick<Io["blobs"], "put">,
): Promise<TruncatedOutcome> {
  const { binary, data, ...rest } = outcome;
  const { content } = rest;
  if (binary) {
    const handle = await blobs.put({ mediaType: binary.mediaType, data: binary.bytes });
    return { ...rest, content: `${toPlainText(content)} Kept as ${handle}.`, handle };
  }
  if (typeof content !== "string") return outcome;
  const isLarge = data !== undefined && JSON.stringify(data).length > maxDataInLog;
  // A tool may return data together with its own text, which is then truncated as text.
  const json =
    data !== undefined && content.length > resolveMaxCharacters(size, "data")
      ? parseContent(content)
      : undefined;
  const maxCharacters = resolveMaxCharacters(size, json === undefined ? "text" : "data");
  if (content.length <= maxCharacters && !isLarge) return outcome;
  const mediaType = json === undefined ? "text/plain" : "application/json";
  const handle = await blobs.put({ mediaType, data: content });
  const readHint = formatReadHint({ ...rest, handle });
  const shown =
    json === undefined
      ? truncateText(content, maxCharacters, readHint)
      : truncateJson(json, maxCharacters, readHint).text;
  return { ...rest, content: shown, ...(data !== undefined && !isLarge && { data }), handle };
}

function resolveMaxCharacters(size: ResultSize, kind: "data" | "text"): number {
  if (size === "unlimited") return Number.POSITIVE_INFINITY;
  return typeof size === "number" ? size : size[kind];
}

function parseContent(content: string): Json | undefined {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

export type AnswerLimits = {
  readonly tool: Tool | undefined;
  readonly policy: Policy;
  readonly blobs: Pick<Io["blobs"], "put">;
};

type AnswerFact = Extract<FactBody, { type: "tool_call_result" }>;

/** Applies the tool's view and size limit to a client's answer, as for a tool's own result. */
export async function truncateAnswer(
  answer: AnswerFact,
  { tool, policy, blobs }: AnswerLimits,
): Promise<AnswerFact> {
  const { result, data, status, error, message, ...rest } = answer;
  const outcome = {
    status,
    content: result,
    ...(data !== undefined && { data }),
    ...(error && { error }),
    ...(message !== undefined && { message }),
  };
  const { resultForModel = "full" } = tool ?? {};
  const view = filterForModel(outcome, { includeData: policy.includeToolData, resultForModel });
  const { content, ...truncated } = await truncateOutcome(
    view,
    tool?.maxResultSize ?? policy.maxToolResultSize,
    blobs,
  );
  return { ...rest, ...truncated, result: content };
}

/**
 * Returns valid JSON text of at most `maxCharacters`. A larger value is truncated: each array, object and text in it
 * notes how much is missing, and the top level has the hint. If not even that fits, the result is `null`, `""` or `0`.
 */
export function truncateJson(
  value: Json,
  maxCharacters: number,
  readHint = "",
): { readonly text: string; readonly cut: boolean } {
  const whole = JSON.stringify(value);
  if (whole.length <= maxCharacters) return { text: whole, cut: false };
  const { json, isCut } = toLimitedJson(value, { characters: maxCharacters, note: readHint });
  return { text: JSON.stringify(json), cut: isCut };
}

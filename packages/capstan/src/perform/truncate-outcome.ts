import type { FactBody } from "../event.ts";
import { toPlainText } from "../history.ts";
import type { Json } from "../json.ts";
import type { Policy, ResultSize } from "../policy.ts";
import type { Outcome, Tool } from "../tool.ts";
import type { Io } from "./io.ts";
import { filterForModel } from "./outcome.ts";
import { toLimitedJson } from "./to-json.ts";
import { formatReadHint, truncateText } from "./truncate-text.ts";

/** Data beyond this is left to the blob: a log is read again and again. */
const maxDataInLog = 100_000;

/** An outcome as it goes into the log and to the model, with a handle to what is not in it. */
export type TruncatedOutcome = Omit<Outcome, "binary"> & { readonly handle?: string };

/** Keeps a result within its size. What is cut is said, and can be read with a handle. Rejects when the store does. */
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
  const isHeavy = data !== undefined && JSON.stringify(data).length > maxDataInLog;
  // A tool may give its data and a text of its own to go with it: then the text is a text.
  const json =
    data !== undefined && content.length > resolveMaxCharacters(size, "data")
      ? parseContent(content)
      : undefined;
  const most = resolveMaxCharacters(size, json === undefined ? "text" : "data");
  if (content.length <= most && !isHeavy) return outcome;
  const mediaType = json === undefined ? "text/plain" : "application/json";
  const handle = await blobs.put({ mediaType, data: content });
  const shown =
    json === undefined ? truncateText(content, most, handle) : truncateJson(json, most, handle).text;
  return { ...rest, content: shown, ...(data !== undefined && !isHeavy && { data }), handle };
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

/** What a client answers to a call, as the model gets to read it: no more of it than of what a tool gives itself. */
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
  const { content, ...fitted } = await truncateOutcome(
    view,
    tool?.maxResultSize ?? policy.maxToolResultSize,
    blobs,
  );
  return { ...rest, ...fitted, result: content };
}

/**
 * JSON text of at most `most` characters, always valid. When the whole does not fit, it has the beginning, each array,
 * object and text in it says how much is missing, and the top level names the handle. Where not even that fits it is
 * `null`, `""` or `0`.
 */
export function truncateJson(
  value: Json,
  most: number,
  handle?: string,
): { readonly text: string; readonly cut: boolean } {
  const whole = JSON.stringify(value);
  if (whole.length <= most) return { text: whole, cut: false };
  const note = handle === undefined ? "" : formatReadHint(handle);
  const { json, isCut } = toLimitedJson(value, { characters: most, note });
  return { text: JSON.stringify(json), cut: isCut };
}

import { toPlainText } from "../history.ts";
import type { Json } from "../json.ts";
import type { ResultSize } from "../policy.ts";
import type { Outcome } from "../tool.ts";
import { truncateJson, truncateText } from "./cut.ts";
import type { Io } from "./io.ts";

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

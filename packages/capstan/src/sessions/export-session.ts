import { toBase64 } from "../base/json.ts";
import { isNested, readRuns, yieldToEventLoop } from "../runtime/load-facts.ts";
import type { SessionInfo, Store } from "../runtime/store.ts";
import { serializeSession } from "./session-file.ts";
import { summarizeSession } from "./summary.ts";
import { htmlEnd, imageTypes, renderHtmlHead, renderHtmlRun } from "./to-html.ts";
import { formatMarkdownHead, formatMarkdownRun } from "./to-markdown.ts";
import { buildRunTranscript, type TranscriptRun } from "./transcript.ts";

/** `markdown` and `html` are for reading, `json` for importing. */
export type ExportFormat = "markdown" | "json" | "html";

/** Size from which the items of a run are passed on, in characters. */
const partSize = 64 * 1024;

/** Exports a session in parts. At any time, at most one run of it is in memory; for `json`, one page of facts. */
export async function* exportSession(
  store: Store,
  info: SessionInfo,
  format: ExportFormat,
): AsyncGenerator<string, void, undefined> {
  if (format === "json") return yield* serializeSession(store, info);
  const summary = await summarizeSession(store, info);
  yield format === "html" ? renderHtmlHead(summary) : formatMarkdownHead(summary);
  for await (const facts of readRuns(store, info.id)) {
    const run = await buildRunTranscript(facts.filter((fact) => !isNested(fact)));
    if (format === "html") await loadImages(store, info.id, run);
    yield* groupBySize(format === "html" ? renderHtmlRun(run) : formatMarkdownRun(run));
  }
  if (format === "html") yield htmlEnd;
}

/** Images in a page, in bytes: a session may have many. */
const maxImageBytes = 20_000_000;

/** Adds the bytes of generated images, so that the page shows them. Other media, and images past the limit, are named. */
async function loadImages(store: Store, sessionId: string, { items }: TranscriptRun): Promise<void> {
  let bytes = 0;
  for (const item of items) {
    if (item.type !== "media" || item.part.handle === undefined) continue;
    bytes += item.part.size ?? 0;
    if (bytes > maxImageBytes || !imageTypes.includes(item.part.mediaType)) continue;
    const blob = await store.getBlob(sessionId, item.part.handle);
    if (blob && typeof blob.data !== "string") item.data = toBase64(blob.data);
  }
}

async function* groupBySize(items: Iterable<string>): AsyncGenerator<string, void, undefined> {
  let part = "";
  for (const item of items) {
    part += item;
    if (part.length < partSize) continue;
    yield part;
    part = "";
    await yieldToEventLoop();
  }
  if (part) yield part;
}

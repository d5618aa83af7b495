import type { SessionInfo, Store } from "../store.ts";
import { isNested, readRuns, yieldToEventLoop } from "./load-facts.ts";
import { serializeSession } from "./session-file.ts";
import { summarizeSession } from "./summary.ts";
import { htmlEnd, renderHtmlHead, renderHtmlRun } from "./to-html.ts";
import { formatMarkdownHead, formatMarkdownRun } from "./to-markdown.ts";
import { buildRunTranscript } from "./transcript.ts";

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
    yield* groupBySize(format === "html" ? renderHtmlRun(run) : formatMarkdownRun(run));
  }
  if (format === "html") yield htmlEnd;
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

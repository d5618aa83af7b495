import type { RunQuery, RunSummary, Store } from "capstan";

/** Runs that are read at once for an export. */
const pageSize = 500;

/** The columns of an export as CSV. */
const columns: Readonly<Record<string, (run: RunSummary) => string | number | undefined>> = {
  run: ({ runId }) => runId,
  session: ({ sessionId }) => sessionId,
  user: ({ user }) => user,
  agent: ({ agent }) => agent,
  agent_version: ({ agentVersion }) => agentVersion,
  state: ({ state }) => state,
  status: ({ status }) => status,
  stop_reason: ({ stopReason }) => stopReason,
  error: ({ errorCode }) => errorCode,
  started_at: ({ startedAt }) => new Date(startedAt).toISOString(),
  ended_at: ({ endedAt }) => (endedAt === undefined ? undefined : new Date(endedAt).toISOString()),
  duration_ms: ({ ms }) => ms,
  turns: ({ turns }) => turns,
  tool_calls: ({ toolCalls }) => toolCalls,
  tools: ({ tools }) => tools.join("; "),
  models: ({ models }) => models.join("; "),
  input_tokens: ({ usage }) => usage.inputTokens,
  output_tokens: ({ usage }) => usage.outputTokens,
  cached_tokens: ({ usage }) => usage.cachedTokens,
  cost_usd: ({ cost }) => cost,
  tags: ({ tags }) => tags.join("; "),
  title: ({ title }) => title,
  rating: ({ feedback }) => feedback?.rating,
  note: ({ feedback }) => feedback?.note,
  correction: ({ feedback }) => feedback?.correction,
};

/** A text that starts with one of these is a formula for a spreadsheet. */
const formulaStart = /^[\s]*[=+\-@\t\r＝＋－＠]/u;

/** Formats a cell (RFC 4180). An apostrophe keeps a spreadsheet from executing a text. */
function formatCell(value: string | number | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = formulaStart.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function formatRow(values: readonly (string | number | undefined)[]): string {
  return `${values.map(formatCell).join(",")}\r\n`;
}

async function* readPages(store: Store, query: RunQuery): AsyncGenerator<readonly RunSummary[]> {
  let cursor: string | undefined;
  do {
    const page = await store.queryRuns({ ...query, limit: pageSize, cursor });
    yield page.runs;
    cursor = page.next;
  } while (cursor !== undefined);
}

async function* streamCsv(pages: AsyncIterable<readonly RunSummary[]>): AsyncGenerator<string> {
  yield formatRow(Object.keys(columns));
  for await (const runs of pages)
    yield runs.map((run) => formatRow(Object.values(columns).map((read) => read(run)))).join("");
}

async function* streamJson(pages: AsyncIterable<readonly RunSummary[]>): AsyncGenerator<string> {
  let separator = "[\n";
  for await (const runs of pages) {
    if (runs.length === 0) continue;
    yield separator + runs.map((run) => JSON.stringify(run)).join(",\n");
    separator = ",\n";
  }
  yield separator === "[\n" ? "[]\n" : "\n]\n";
}

/** Streams all runs that a query selects, page by page, as fast as the client reads them. */
export function exportRuns(store: Store, query: RunQuery, format: "csv" | "json"): Response {
  const pages = readPages(store, query);
  const parts = format === "csv" ? streamCsv(pages) : streamJson(pages);
  const type = format === "csv" ? "text/csv; charset=utf-8; header=present" : "application/json";
  const headers = { "content-type": type, "content-disposition": `attachment; filename="runs.${format}"` };
  return new Response(toByteStream(parts), { headers });
}

/** Reads the next part when the client has taken the one before. */
function toByteStream(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
}

import { escapeControls } from "../base/escape-text.ts";
import { formatCount } from "../base/format-count.ts";
import type { Json } from "../base/json.ts";
import { formatMedia, toPlainText } from "../kernel/history.ts";
import { formatDuration, formatTime, formatUsage } from "./format-values.ts";
import { escapeMarkdown, sanitizeMarkdown } from "./sanitize-markdown.ts";
import type { SessionSummary } from "./summary.ts";
import type { TranscriptCall, TranscriptItem, TranscriptRun } from "./transcript.ts";

/** The start of a Markdown export. */
export function formatMarkdownHead({ title, createdAt, runs, usage, cost }: SessionSummary): string {
  const line = `${formatTime(createdAt)} · ${formatCount(runs.length, "run")} · ${formatUsage(usage, cost)}`;
  return `# ${escapeMarkdown(title)}\n\n${line}\n`;
}

/** Renders a run as Markdown, item by item, with tool calls and reasoning in collapsed sections. */
export function* formatMarkdownRun(run: TranscriptRun): Generator<string, void, undefined> {
  const sources = run.sources.map(
    ({ title, url }) => `- ${escapeMarkdown(title)}${url === undefined ? "" : ` ${escapeMarkdown(url)}`}`,
  );
  const usage = `${formatDuration(run.updatedAt - run.startedAt)}, ${formatUsage(run.usage, run.cost)}`;
  yield "\n---\n";
  for (const item of run.items) yield `\n${formatItem(item)}\n`;
  if (sources.length > 0) yield `\n**Sources**\n\n${sources.join("\n")}\n`;
  yield `\n*${run.imported ? "imported · " : ""}${run.status}${run.end && ` (${escapeMarkdown(run.end)})`} · ${formatCount(run.turns, "turn")}, ${usage}*\n`;
}

function formatItem(item: TranscriptItem): string {
  switch (item.type) {
    case "user":
      return `**${item.author}** · ${formatTime(item.at)}\n\n${sanitizeMarkdown(toPlainText(item.content))}`;
    case "agent":
      return `**${escapeMarkdown(item.name)}**${item.model ? ` · ${escapeMarkdown(item.model)}` : ""}\n\n${sanitizeMarkdown(item.text)}`;
    case "reasoning":
      return formatDetails("Reasoning", sanitizeMarkdown(item.text));
    case "summary":
      return formatDetails("Summary of earlier messages", sanitizeMarkdown(item.text));
    case "note":
      return `> ${escapeMarkdown(item.text)}`;
    case "media":
      return `> ${escapeMarkdown(formatMedia(item.part))}`;
    case "call":
      return formatDetails(formatCallSummary(item), formatCallBody(item));
  }
}

function formatCallSummary({ name, result, approval }: TranscriptCall): string {
  const outcome = result ? result.status : "no result";
  return `Tool: ${name} (${outcome}${result?.cached ? ", cached" : ""}${approval === undefined ? "" : `, ${approval}`})`;
}

function formatCallBody({ input, result }: TranscriptCall): string {
  const inputBlock = formatCodeBlock(formatCallInput(input), typeof input === "string" ? "" : "json");
  return result ? `${inputBlock}\n\n${formatCodeBlock(escapeControls(result.text), "")}` : inputBlock;
}

/** Formats a value for display: strings as they are, anything else as indented JSON. */
export function formatCallInput(value: Json): string {
  return escapeControls(typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
}

function formatDetails(title: string, body: string): string {
  return `<details>\n<summary>${escapeMarkdown(title)}</summary>\n\n${body}\n\n</details>`;
}

/** Uses a fence longer than any run of backticks in the text. */
function formatCodeBlock(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

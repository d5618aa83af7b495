import { formatCount } from "../base/format-count.ts";
import { formatMedia, type Part } from "../kernel/history.ts";
import { formatDuration, formatTime, formatUsage } from "./format-values.ts";
import { renderMarkdown } from "./html-markdown.ts";
import { htmlStyle, htmlStyleHash } from "./html-style.ts";
import { escapeHtml } from "./html-text.ts";
import { renderWidget } from "./html-widgets.ts";
import type { SessionSummary } from "./summary.ts";
import { formatCallInput } from "./to-markdown.ts";
import type { TranscriptCall, TranscriptItem, TranscriptMedia, TranscriptRun } from "./transcript.ts";

// Blocks scripts and external resources: a session may contain hostile content.
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${htmlStyleHash}'; img-src data:; base-uri 'none'; form-action 'none'`;

/** The start of an HTML export: a self-contained page that looks like the studio. */
export function renderHtmlHead({ title, createdAt, usage, cost }: SessionSummary): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${htmlStyle}</style>
</head>
<body>
<main>
<header>
<h1>${escapeHtml(title)}</h1>
<p class="small">${formatTime(createdAt)} · ${escapeHtml(formatUsage(usage, cost))}</p>
</header>
`;
}

export const htmlEnd = "</main>\n</body>\n</html>\n";

/** Renders a run as HTML, item by item. */
export function* renderHtmlRun(run: TranscriptRun): Generator<string, void, undefined> {
  const usage = `${formatDuration(run.updatedAt - run.startedAt)}, ${formatUsage(run.usage, run.cost)}`;
  yield "<section>\n";
  for (const item of run.items) yield `${renderItem(item)}\n`;
  yield renderSources(run);
  yield `<p class="small ${run.status}">${escapeHtml(`${run.imported ? "imported · " : ""}${run.status}${run.end && ` (${run.end})`} · ${formatCount(run.turns, "turn")}, ${usage}`)}</p>
</section>\n`;
}

/** The cited sources with their numbers, then the others that were found. */
function renderSources({ items, sources }: TranscriptRun): string {
  const cited = new Map(
    items.flatMap((item) => (item.type === "agent" ? (item.citations ?? []) : [])).map((one) => [one.n, one]),
  );
  const formatSource = ({ title, url }: { readonly title: string; readonly url?: string }) =>
    escapeHtml(url === undefined ? title : `${title} ${url}`);
  const known = new Set([...cited.values()].map(formatSource));
  const lines = [
    ...[...cited.values()].map(
      (source) =>
        `<li id="source-${source.n}"><span class="cite">${source.n}</span> ${formatSource(source)}</li>`,
    ),
    ...sources.map(formatSource).flatMap((source) => (known.has(source) ? [] : [`<li>${source}</li>`])),
  ];
  return lines.length === 0 ? "" : `<h2>Sources</h2>\n<ul class="sources">${lines.join("")}</ul>\n`;
}

function renderItem(item: TranscriptItem): string {
  switch (item.type) {
    case "user":
      return `<article class="person"><h2>${item.author} <small>${formatTime(item.at)}</small></h2><div class="bubble">${renderContent(item.content)}</div></article>`;
    case "agent":
      return `<article><h2>${escapeHtml(item.name)} <small>${escapeHtml(item.model ?? "")}</small></h2>${renderAnswer(item)}</article>`;
    case "reasoning":
      return renderDetails("Reasoning", renderText(item.text));
    case "summary":
      return renderDetails("Summary of earlier messages", renderText(item.text));
    case "note":
      return `<p class="note">${escapeHtml(item.text)}</p>`;
    case "media":
      return renderMedia(item);
    case "call":
      return renderCall(item);
  }
}

function renderAnswer({ text, citations = [] }: Extract<TranscriptItem, { type: "agent" }>): string {
  const numbers = new Set(citations.map(({ n }) => n));
  const renderCitation = (n: number) =>
    numbers.has(n) ? `<a class="cite" href="#source-${n}">${n}</a>` : undefined;
  return `<div class="markdown">${renderMarkdown(text, renderCitation)}</div>`;
}

function renderContent(content: string | readonly Part[]): string {
  if (typeof content === "string") return renderText(content);
  return content.map((part) => (part.type === "text" ? renderText(part.text) : renderFile(part))).join("");
}

function renderMedia({ part, data }: TranscriptMedia): string {
  if (data !== undefined) return renderFile({ type: "image", mediaType: part.mediaType, data });
  return `<p class="note">${escapeHtml(formatMedia(part))}</p>`;
}

/** Formats that a page can show without running anything. */
export const imageTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function renderFile({ type, mediaType, data }: Exclude<Part, { type: "text" }>): string {
  const isShown = imageTypes.includes(mediaType) && data !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
  if (isShown) return `<img alt="" src="data:${mediaType};base64,${data}">`;
  return `<p class="note">${escapeHtml(`${type} (${mediaType})`)}</p>`;
}

function renderCall(call: TranscriptCall): string {
  const { input, result } = call;
  const inputHtml = `<pre>${escapeHtml(formatCallInput(input))}</pre>`;
  const body = result ? `${inputHtml}<pre>${escapeHtml(result.text)}</pre>` : inputHtml;
  const widget = result?.ui ? (renderWidget(result.ui) ?? "") : "";
  const tone = result === undefined ? "open" : result.status === "ok" ? "good" : "bad";
  return `<details class="call"><summary><span class="dot ${tone}"></span>${escapeHtml(formatCallTitle(call))}</summary>${body}</details>${widget}`;
}

function formatCallTitle({ name, result, approval }: TranscriptCall): string {
  const outcome = result ? `${result.status}, ${formatDuration(result.ms)}` : "no result";
  return [name, outcome, result?.cached ? "cached" : "", approval ?? ""]
    .filter((item) => item !== "")
    .join(" · ");
}

function renderText(text: string): string {
  return `<div class="text">${escapeHtml(text)}</div>`;
}

function renderDetails(title: string, body: string): string {
  return `<details><summary>${escapeHtml(title)}</summary>${body}</details>`;
}

import { escapeControls } from "../escape-text.ts";
import type { Part } from "../history.ts";
import { htmlStyle, htmlStyleHash } from "./html-style.ts";
import { shownJson } from "./to-markdown.ts";
import type { Told, ToldCall, ToldRun, Transcript } from "./transcript.ts";
import { counted, worded, wordedDuration, wordedUsage } from "./worded.ts";

// Nothing is loaded and nothing runs: what was said may have been written to do harm to whoever reads it.
const policy = `default-src 'none'; style-src 'sha256-${htmlStyleHash}'; img-src data:; base-uri 'none'; form-action 'none'`;

/** A session as one HTML file that needs nothing else. */
export function toHtml(transcript: Transcript): string {
  const { title, createdAt, runs, usage, cost } = transcript;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<style>${htmlStyle}</style>
</head>
<body>
<main>
<header>
<h1>${escaped(title)}</h1>
<p class="small">${worded(createdAt)} · ${escaped(wordedUsage(usage, cost))}</p>
</header>
${runs.map(runSection).join("\n")}
</main>
</body>
</html>
`;
}

/** Text as HTML, with everything visible; safe between tags and in quoted attributes. */
export function escaped(text: string): string {
  return escapeControls(text).replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function runSection(run: ToldRun): string {
  const sources = run.sources.map(
    ({ title, url }) => `<li>${escaped(url === undefined ? title : `${title} ${url}`)}</li>`,
  );
  const spent = `${wordedDuration(run.updatedAt - run.startedAt)}, ${wordedUsage(run.usage, run.cost)}`;
  return `<section>
${run.told.map(article).join("\n")}
${sources.length > 0 ? `<h2>Sources</h2>\n<ul>${sources.join("")}</ul>` : ""}
<p class="small ${run.status}">${escaped(`${run.status}${run.end && ` (${run.end})`} · ${counted(run.turns, "turn")}, ${spent}`)}</p>
</section>`;
}

function article(told: Told): string {
  switch (told.type) {
    case "person":
      return `<article class="person"><h2>You <small>${worded(told.at)}</small></h2>${contentOf(told.content)}</article>`;
    case "agent":
      return `<article><h2>${escaped(told.name)} <small>${escaped(told.model ?? "")}</small></h2>${paragraph(told.text)}</article>`;
    case "reasoning":
      return folded("Reasoning", paragraph(told.text));
    case "summary":
      return folded("Summary of what was before", paragraph(told.text));
    case "note":
      return `<p class="note">${escaped(told.text)}</p>`;
    case "call":
      return folded(callTitle(told), callBody(told));
  }
}

function contentOf(content: string | readonly Part[]): string {
  if (typeof content === "string") return paragraph(content);
  return content.map((part) => (part.type === "text" ? paragraph(part.text) : picture(part))).join("");
}

const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function picture({ type, mediaType, data }: Exclude<Part, { type: "text" }>): string {
  const isShown = pictures.includes(mediaType) && data !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
  if (isShown) return `<img alt="" src="data:${mediaType};base64,${data}">`;
  return `<p class="note">${escaped(`${type} (${mediaType})`)}</p>`;
}

function callTitle({ name, result, approval }: ToldCall): string {
  const outcome = result ? `${result.status}, ${wordedDuration(result.ms)}` : "no result";
  return [name, outcome, result?.cached ? "cached" : "", approval ?? ""]
    .filter((item) => item !== "")
    .join(" · ");
}

function callBody({ input, result }: ToldCall): string {
  const given = `<pre>${escaped(shownJson(input))}</pre>`;
  return result ? `${given}<pre>${escaped(result.text)}</pre>` : given;
}

function paragraph(text: string): string {
  return `<div class="text">${escaped(text)}</div>`;
}

function folded(title: string, body: string): string {
  return `<details><summary>${escaped(title)}</summary>${body}</details>`;
}

import { escapeControls } from "../escape-text.ts";
import { toPlainText } from "../history.ts";
import type { Json } from "../json.ts";
import { safeMarkdown, unmarked } from "./safe-markdown.ts";
import type { Told, ToldCall, ToldRun, Transcript } from "./transcript.ts";
import { counted, worded, wordedDuration, wordedUsage } from "./worded.ts";

/** A session as Markdown: who said what, with calls and thoughts folded away. */
export function toMarkdown(transcript: Transcript): string {
  const { title, createdAt, runs, usage, cost } = transcript;
  const head = [
    `# ${unmarked(title)}`,
    `${worded(createdAt)} · ${counted(runs.length, "run")} · ${wordedUsage(usage, cost)}`,
  ];
  return `${[...head, ...runs.flatMap(runBlocks)].join("\n\n")}\n`;
}

function runBlocks(run: ToldRun): string[] {
  const sources = run.sources.map(
    ({ title, url }) => `- ${unmarked(title)}${url === undefined ? "" : ` ${unmarked(url)}`}`,
  );
  const spent = `${wordedDuration(run.updatedAt - run.startedAt)}, ${wordedUsage(run.usage, run.cost)}`;
  return [
    "---",
    ...run.told.map(block),
    ...(sources.length > 0 ? [`**Sources**\n\n${sources.join("\n")}`] : []),
    `*${run.status}${run.end && ` (${unmarked(run.end)})`} · ${counted(run.turns, "turn")}, ${spent}*`,
  ];
}

function block(told: Told): string {
  switch (told.type) {
    case "person":
      return `**You** · ${worded(told.at)}\n\n${safeMarkdown(toPlainText(told.content))}`;
    case "agent":
      return `**${unmarked(told.name)}**${told.model ? ` · ${unmarked(told.model)}` : ""}\n\n${safeMarkdown(told.text)}`;
    case "reasoning":
      return folded("Reasoning", safeMarkdown(told.text));
    case "summary":
      return folded("Summary of what was before", safeMarkdown(told.text));
    case "note":
      return `> ${unmarked(told.text)}`;
    case "call":
      return folded(callTitle(told), callBody(told));
  }
}

function callTitle({ name, result, approval }: ToldCall): string {
  const outcome = result ? result.status : "no result";
  return `Tool: ${name} (${outcome}${result?.cached ? ", cached" : ""}${approval === undefined ? "" : `, ${approval}`})`;
}

function callBody({ input, result }: ToldCall): string {
  const given = fenced(shownJson(input), typeof input === "string" ? "" : "json");
  return result ? `${given}\n\n${fenced(escapeControls(result.text), "")}` : given;
}

/** A value as people read it. */
export function shownJson(value: Json): string {
  return escapeControls(typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
}

function folded(title: string, body: string): string {
  return `<details>\n<summary>${unmarked(title)}</summary>\n\n${body}\n\n</details>`;
}

/** With a fence that nothing inside can close. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

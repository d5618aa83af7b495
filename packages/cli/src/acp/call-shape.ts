import { isAbsolute, relative, resolve } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { Json, Part, UiHint } from "capstan";
import { formatArguments } from "../chat/tool-arguments.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";

const kinds: { readonly [name: string]: ToolKind } = {
  read_file: "read",
  read_result: "read",
  list_files: "search",
  search_files: "search",
  write_file: "edit",
  edit_file: "edit",
  web_fetch: "fetch",
  web_search: "fetch",
  shell: "execute",
  plan: "think",
  handoff: "switch_mode",
};

/** Returns the kind of a tool for the editor. */
export function getToolKind(name: string): ToolKind {
  return Object.hasOwn(kinds, name) ? (kinds[name] ?? "other") : "other";
}

const maxArgumentColumns = 100;

/**
 * Formats a call in one line. Editors render titles as Markdown and the model may invent tool names, so neither name nor
 * arguments may become a link or an image.
 */
export function formatCallTitle(name: string, input: Json, agent?: string): string {
  const plain = escapeTerminalLine(name)
    .slice(0, 80)
    .replace(/[^\p{L}\p{N}_.-]+/gu, "_");
  const line = formatArguments(input, maxArgumentColumns).replaceAll("`", "'");
  const who =
    agent === undefined ? "" : `${escapeTerminalLine(agent).replace(/[^\p{L}\p{N}_. -]+/gu, "_")}: `;
  return `${who}${plain || "tool"}${line === "" || line === "{}" ? "" : ` \`${line}\``}`;
}

/** Returns the file that a call accesses, only inside the folder: editors open such files automatically. */
export function findLocations(input: Json, cwd: string): ToolCallLocation[] {
  const path = isFields(input) && typeof input.path === "string" ? resolveInside(input.path, cwd) : undefined;
  if (path === undefined || !isFields(input)) return [];
  const line = typeof input.from === "number" && Number.isInteger(input.from) ? input.from : undefined;
  return [{ path, ...(line !== undefined && line > 0 && { line }) }];
}

/** Builds the changes that a call of a file tool proposes. */
export function buildProposedChanges(name: string, input: Json, cwd: string): ToolCallContent[] {
  if (getToolKind(name) !== "edit" || !isFields(input) || typeof input.path !== "string") return [];
  const path = resolveInside(input.path, cwd);
  if (path === undefined) return [];
  if (typeof input.content === "string") return [{ type: "diff", path, newText: input.content }];
  const edits: readonly Json[] = Array.isArray(input.edits) ? input.edits : [];
  return edits.flatMap((edit) =>
    isFields(edit) && typeof edit.find === "string" && typeof edit.replace === "string"
      ? [{ type: "diff" as const, path, oldText: edit.find, newText: edit.replace }]
      : [],
  );
}

/** Builds the content of a result: its diff, or its text and images. */
export function buildCallContent(
  result: string | readonly Part[],
  ui: UiHint | undefined,
  cwd: string,
): ToolCallContent[] {
  const changes = ui?.kind === "diff" && isFields(ui.props) ? parseChanges(ui.props, cwd) : [];
  if (changes.length > 0) return changes;
  const parts = typeof result === "string" ? [{ type: "text" as const, text: result }] : result;
  return parts.flatMap((part): ToolCallContent[] => {
    if (part.type === "text") return part.text === "" ? [] : [quoteText(part.text)];
    if (part.type === "image" && part.data !== undefined)
      return [{ type: "content", content: { type: "image", mimeType: part.mediaType, data: part.data } }];
    return [quoteText(`[${part.type} ${part.mediaType}]`)];
  });
}

/** Quotes untrusted text as a code block, so that no link, image or heading is rendered. */
export function quoteText(text: string): ToolCallContent {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return { type: "content", content: { type: "text", text: `${fence}\n${text}\n${fence}` } };
}

/** Returns the text of a result; other parts are named. */
export function formatResultText(result: string | readonly Part[]): string {
  if (typeof result === "string") return result;
  return result
    .map((part) => (part.type === "text" ? part.text : `[${part.type} ${part.mediaType}]`))
    .join("\n");
}

/** Returns one change per hunk of a unified diff. */
function parseChanges({ path, diff }: { readonly [name: string]: Json }, cwd: string): ToolCallContent[] {
  const place = typeof path === "string" ? resolveInside(path, cwd) : undefined;
  if (place === undefined || typeof diff !== "string") return [];
  const [head = "", ...hunks] = diff.split(/^@@.*@@.*\n/m);
  return hunks.map((hunk) => {
    const [oldText, newText] = [extractSide(hunk, "-"), extractSide(hunk, "+")];
    return {
      type: "diff" as const,
      path: place,
      newText,
      ...(!head.startsWith("--- /dev/null") && { oldText }),
    };
  });
}

function extractSide(hunk: string, sign: "-" | "+"): string {
  let text = "";
  let isLast = false;
  for (const line of hunk.replace(/\n$/, "").split("\n")) {
    if (line.startsWith("\\") && isLast) text = text.replace(/\n$/, "");
    isLast = line.startsWith(" ") || line.startsWith(sign);
    if (isLast) text += `${line.slice(1)}\n`;
  }
  return text;
}

function resolveInside(path: string, cwd: string): string | undefined {
  if (path.includes("\0")) return undefined;
  const whole = resolve(cwd, path);
  const way = relative(cwd, whole);
  return way.startsWith("..") || isAbsolute(way) ? undefined : whole;
}

function isFields(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

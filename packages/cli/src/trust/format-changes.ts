import { escapeInvisible } from "capstan";
import { diffLines } from "capstan/sessions";
import { formatDiff } from "../chat/tool-arguments.ts";
import type { Style } from "../terminal/style.ts";
import type { TrustedFile } from "./snapshot.ts";
import { type FileTrust, listChangedPaths } from "./trust.ts";

const maxLines = 200;

/** Formats what has changed since a project file was trusted: its own lines and the lines of the code it loads. */
export function formatChanges(
  { trusted, current }: Pick<FileTrust, "trusted" | "current">,
  style: Style,
): string[] {
  return listChangedPaths(trusted, current).flatMap((path) =>
    formatDiff(formatFileChange(path, trusted[path], current[path]), style),
  );
}

function formatFileChange(
  path: string,
  before: TrustedFile | undefined,
  after: TrustedFile | undefined,
): string {
  const header = [`--- ${before ? path : "(new file)"}`, `+++ ${after ? path : "(deleted)"}`];
  const isShown = (before === undefined || before.text !== undefined) && after?.text !== undefined;
  const lines = isShown ? listChangedLines(before?.text ?? "", after.text ?? "") : [];
  const omitted = lines.length > maxLines ? [`… ${lines.length - maxLines} more lines`] : [];
  const note = isShown || !after ? omitted : ["(too long to compare)"];
  return [...header, ...lines.slice(0, maxLines), ...note].map(escapeInvisible).join("\n");
}

function listChangedLines(before: string, after: string): string[] {
  const split = (text: string) => (text === "" ? [] : text.split("\n"));
  return diffLines(split(before), split(after), { maxDifferences: 400 })
    .filter(({ type }) => type !== "same")
    .map(({ type, line }) => (type === "left" ? "-" : "+") + line);
}

import { stripVTControlCharacters } from "node:util";
import type { Io } from "../io.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";

/** Escapes text for stdout: fully in a terminal; for a pipe or a file it only removes escape sequences and controls. */
export function formatOutput(text: string, stdout: Pick<Io["stdout"], "isTTY">): string {
  if (stdout.isTTY) return escapeTerminal(text);
  const lines = stripVTControlCharacters(text.toWellFormed()).replaceAll("\r\n", "\n");
  return lines.replace(/(?![\n\t])\p{Cc}/gu, "");
}

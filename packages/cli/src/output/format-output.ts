import { stripVTControlCharacters } from "node:util";
import type { Io } from "../io.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";

/** An answer as stdout gets it: harmless in a terminal; in a pipe or a file as it is, without escapes and controls. */
export function formatOutput(text: string, stdout: Pick<Io["stdout"], "isTTY">): string {
  if (stdout.isTTY) return escapeTerminal(text);
  const lines = stripVTControlCharacters(text.toWellFormed()).replaceAll("\r\n", "\n");
  return lines.replace(/(?![\n\t])\p{Cc}/gu, "");
}

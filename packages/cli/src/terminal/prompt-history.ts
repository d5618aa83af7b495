// Submitted prompts, oldest first, one JSON string per line. The file has mode 0600.
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile } from "capstan/replace-file";
import { escapeTerminal } from "./escape-terminal.ts";

const maxEntries = 1000;
const maxEntryLength = 20_000;

/** The prompt history of a data folder. */
export interface PromptHistory {
  readonly entries: readonly string[];
  /** Adds a prompt unless it repeats the last one. Write errors are ignored. */
  add(text: string): Promise<void>;
}

/** Reads the history. An unreadable file counts as empty. */
export async function openPromptHistory(home: string): Promise<PromptHistory> {
  const file = join(home, "history.jsonl");
  const storedLines = (await readFile(file, "utf8").catch(() => "")).split("\n");
  const entries = storedLines.flatMap(parseHistoryLine).slice(-maxEntries);
  if (storedLines.length > maxEntries * 2) await rewriteFile(file, entries).catch(() => undefined);
  return {
    entries,
    async add(text) {
      if (text.length > maxEntryLength || entries.at(-1) === text) return;
      entries.push(text);
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await appendFile(file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
      } catch {
        // The history is optional.
      }
    },
  };
}

function parseHistoryLine(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "string" ? [escapeTerminal(value)] : [];
  } catch {
    return [];
  }
}

async function rewriteFile(file: string, entries: readonly string[]): Promise<void> {
  const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  await replaceFile(file, text);
}

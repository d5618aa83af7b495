import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";

/** Formats the first line of every report: date, Node, processor, and the command that repeats it. */
export function formatEnvironment(command: string, ...details: string[]): string {
  const processor = cpus()[0]?.model.trim() ?? "an unknown processor";
  const date = new Date().toISOString().slice(0, 10);
  const machine = `Node ${process.version}, ${cpus().length} × ${processor}`;
  return [date, machine, ...details, `\`${command}\``].join(", ");
}

export const formatRounds = (rounds: number): string => `${rounds} ${rounds === 1 ? "round" : "rounds"}`;

/** The first column is text; the others are figures. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Replaces the text between two comments in bench/README.md. */
export function updateReadme(section: string, text: string): void {
  updateFile(join(import.meta.dirname, "README.md"), section, text);
}

export function updateFile(file: string, section: string, text: string): void {
  writeFileSync(file, replaceSection(readFileSync(file, "utf8"), section, text));
}

/** Replaces the text between the comments of a section. */
export function replaceSection(page: string, section: string, text: string): string {
  const [start, end] = [`<!-- ${section} -->`, `<!-- end of ${section} -->`];
  const [before = "", rest = ""] = page.split(start);
  const [, after] = rest.split(end);
  if (after === undefined) throw new Error(`The page has no section between ${start} and ${end}.`);
  return `${before}${start}\n\n${text.trim()}\n\n${end}${after}`;
}

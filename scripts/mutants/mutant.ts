import { globSync, readFileSync } from "node:fs";

/** A deliberate fault in the code that a requirement is about. */
export type Mutant = {
  /** The requirement that the fault breaks. Only tests that cite it count. */
  readonly row: string;
  /** Relative to the root of the workspace. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
};

/** Reads the lists in this folder. */
export function readMutants(): readonly Mutant[] {
  const lists = globSync("*.txt", { cwd: import.meta.dirname }).sort();
  return lists.flatMap((list) => parseMutants(readFileSync(`${import.meta.dirname}/${list}`, "utf8")));
}

/**
 * Parses a list: after a line about the list, one block per mutant, which is the requirement and the file, then lines to
 * remove (`-`) and to insert (`+`). Lines may be parts of lines.
 */
export function parseMutants(list: string): readonly Mutant[] {
  const [, ...blocks] = list.trim().split(/\n{2,}/);
  return blocks.map((block) => {
    const [head = "", ...lines] = block.split("\n");
    const [row = "", file = ""] = head.split(" ");
    const join = (mark: string) =>
      lines
        .filter((line) => line.startsWith(mark))
        .map((line) => line.slice(1))
        .join("\n");
    return { row, file, from: join("-"), to: join("+") };
  });
}

/** Returns the source with the fault. Throws if the original text is missing or ambiguous. */
export function applyMutant(source: string, { row, file, from, to }: Mutant): string {
  const count = from === "" ? 0 : source.split(from).length - 1;
  if (count === 1) return source.replace(from, () => to);
  const found = count === 0 ? "is not" : `occurs ${count} times`;
  throw new Error(`The text of the mutant for ${row} ${found} in ${file}. Adapt the mutant:\n${from}`);
}

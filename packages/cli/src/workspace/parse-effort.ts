import { type Effort, effortLevels } from "capstan";

/** Explains what `parseEffort` accepts. */
export const effortHint: string = `Use ${effortLevels.join(", ")}, or a number of tokens such as 8000.`;

/** Returns the effort that a text names; undefined if it names none. */
export function parseEffort(text: string): Effort | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : effortLevels.find((level) => level === text);
}

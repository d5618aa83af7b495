import type { ToolSpec } from "capstan";
import { vocabularyOf } from "./vocabulary.ts";
import { isDeed } from "./word-score.ts";

const showing = new Set("show display highlight focus zoom open set run start go".split(" "));

/** A tool that, by its name and its examples, neither changes nor shows anything. */
export function isHarmless(tool: ToolSpec, tools: readonly ToolSpec[]): boolean {
  const known = vocabularyOf(tools).tools.find((one) => one.tool === tool);
  return known !== undefined && !isDeed(known) && !known.name.some((part) => showing.has(part));
}

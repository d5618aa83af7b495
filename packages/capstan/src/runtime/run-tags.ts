import { AgentError } from "../base/errors.ts";

const maxTags = 20;
const maxTagLength = 100;
/** Control characters. */
const controls = /[^ -~\xa0-\uffff]/;

/** Throws `invalid_input` for tags that a run cannot have. */
export function assertTags(tags: readonly string[]): void {
  if (Array.isArray(tags) && tags.length <= maxTags && tags.every(isTag)) return;
  const message = `\`tags\` must be at most ${maxTags} texts of 1 to ${maxTagLength} characters, without line breaks.`;
  throw new AgentError("invalid_input", message);
}

function isTag(tag: unknown): boolean {
  return typeof tag === "string" && tag.trim() !== "" && tag.length <= maxTagLength && !controls.test(tag);
}

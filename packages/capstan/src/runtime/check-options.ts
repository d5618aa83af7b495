import { checkFields } from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import type { ResumeOptions } from "./open-run.ts";
import type { RunOptions } from "./run.ts";

type Names<Options> = Readonly<Record<keyof Options, true>>;

const resumeNames: Names<Required<ResumeOptions>> = {
  ...{ context: true, signal: true, hooks: true, clock: true, secrets: true },
};
const runNames: Names<Required<RunOptions>> = {
  ...resumeNames,
  ...{ session: true, store: true, policy: true, settings: true, timeZone: true, runId: true },
  ...{ compact: true, tags: true },
};

/** Set by engines and reruns. */
const internalNames = ["shared", "instructions"];

/** Throws `invalid_definition` for an unknown option of `run`: a misspelled one would silently do nothing. */
export function checkRunOptions(options: RunOptions): void {
  checkOptions("run", options, Object.keys(runNames));
}

/** Throws `invalid_definition` for an unknown option of `resume`, such as a policy: a run keeps the one it started with. */
export function checkResumeOptions(options: ResumeOptions): void {
  checkOptions("resume", options, Object.keys(resumeNames));
}

function checkOptions(caller: string, options: object, names: readonly string[]): void {
  const given = Object.entries(options).filter(
    ([name, value]) => value !== undefined && !internalNames.includes(name),
  );
  checkFields(`options of \`${caller}\``, Object.fromEntries(given), names);
}

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

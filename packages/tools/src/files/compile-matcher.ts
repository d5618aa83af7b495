import { createArgumentError, quotePath } from "./file-errors.ts";

export type Matcher = (text: string) => boolean;

/** Matching time grows with the text length times the size of the compiled pattern. */
const maxProgramSize = 1_000;

/** Compiles an RE2 pattern to a linear-time test. Errors quote `source`, the text the pattern was made from. */
export async function compileMatcher(pattern: string, source: string = pattern): Promise<Matcher> {
  const { RE2JS } = await import("re2js");
  const compiled = (() => {
    try {
      return RE2JS.compile(pattern);
    } catch (error) {
      const reason = error instanceof Error ? error.message : "invalid pattern";
      throw createArgumentError(`Invalid pattern ${quotePath(source)}: ${reason}. Use RE2 syntax.`);
    }
  })();
  if (compiled.programSize() > maxProgramSize)
    throw createArgumentError(`The pattern ${quotePath(source)} is too large: use fewer repetitions.`);
  return (text) => compiled.test(text);
}

import { badArguments, quoted } from "./file-failure.ts";

/** Whether a text matches. */
export type Matches = (text: string) => boolean;

/** Time goes with the length of the text times the size of the compiled pattern. */
const largestProgram = 1_000;

/** A test that takes time in proportion to the text. `pattern` is in RE2's syntax; errors name what it was made from. */
export async function linearMatcher(pattern: string, source: string = pattern): Promise<Matches> {
  const { RE2JS } = await import("re2js");
  const compiled = (() => {
    try {
      return RE2JS.compile(pattern);
    } catch (error) {
      const reason = error instanceof Error ? error.message : "it is not valid";
      throw badArguments(`The pattern ${quoted(source)} cannot be used: ${reason}. The syntax is RE2's.`);
    }
  })();
  if (compiled.programSize() > largestProgram)
    throw badArguments(`The pattern ${quoted(source)} is too large: repeat less in it.`);
  return (text) => compiled.test(text);
}

// Tells tests that run an app from tests of its functions, by the text of the test and of the functions that it calls.
import { findTests } from "./test-titles.ts";

const starter =
  /\b(?:run|createServer|conversationSuite|startAgents|startProgram|createBridgeService|StdioClientTransport)\(/;
const sharedPart =
  /^ {0,2}(?:export )?(?:(?:async )?function\*? (\w+)|const (\w+)(?:: [^=\n]+)? = (?:async )?(?:\(|<|\w+ =>)|(beforeAll|beforeEach)\()/gm;

/** A test, or a function or hook that tests share. */
type SourcePart = { readonly start: number; readonly name?: string };

/** Returns the titles of the tests that run an agent, a server or a program. A group counts if one of the file's tests does. */
export function findAppTests(source: string): ReadonlySet<string> {
  const tests = findTests(source);
  // An indented function after a test that is not belongs to that test.
  const isInTest = (start: number): boolean => {
    const test = tests.findLast((one) => one.start < start);
    return (
      test !== undefined &&
      !test.isGroup &&
      (source[test.start - 1] ?? "\n") === "\n" &&
      source[start] === " "
    );
  };
  const shared = [...source.matchAll(sharedPart)]
    .filter(({ index }) => !isInTest(index))
    .map(({ index, 1: own, 2: arrow, 3: hook }): SourcePart => {
      return { start: index, name: own ?? arrow ?? hook ?? "" };
    });
  const parts: SourcePart[] = [...tests, ...shared].sort((one, other) => one.start - other.start);
  const texts = new Map(
    parts.map((part, index) => [part, source.slice(part.start, parts[index + 1]?.start)]),
  );
  const starters = new Set<string>();
  const startsApp = (part: SourcePart): boolean => {
    const text = texts.get(part) ?? "";
    return starter.test(text) || [...starters].some((name) => new RegExp(`\\b${name}\\(`).test(text));
  };
  for (let size = -1; size < starters.size; ) {
    size = starters.size;
    for (const part of shared) if (startsApp(part)) starters.add(part.name ?? "");
  }
  const hasHook = starters.has("beforeAll") || starters.has("beforeEach");
  const running = tests.filter((test) => !test.isGroup && (hasHook || startsApp(test)));
  const groups = running.length > 0 ? tests.filter(({ isGroup }) => isGroup) : [];
  return new Set([...running, ...groups].map(({ title }) => title));
}

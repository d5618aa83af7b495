import type { Item } from "../dialog/collect-results.ts";

const countPattern =
  /\b(?:how\s+many|count|(?:total\s+)?number\s+of)\s+(?:(?:of\s+)?(?:the|all|my|these|those|different)\s+)*(?<noun>\p{L}+)/iu;

/** The noun of a question for a number: "files" in "how many files are there?". */
export const findCountedNoun = (question: string): string | undefined =>
  countPattern.exec(question)?.groups?.noun?.toLowerCase();

/** The number of items as the start of an answer: "3 notes:". Undefined if the question does not ask for it. */
export function formatItemCount(
  question: string,
  items: readonly Item[],
  total: number = items.length,
): string | undefined {
  const noun = findCountedNoun(question);
  if (noun === undefined || items.length === 0) return undefined;
  const paths = items.flatMap(({ path }) => (typeof path === "string" ? path : []));
  return `${paths.length === items.length ? formatPathCount(paths) : `${total} ${toNumber(noun, total)}`}:`;
}

function formatPathCount(paths: readonly string[]): string {
  const folders = paths.filter((path) => path.endsWith("/")).length;
  const files = paths.length - folders;
  const parts = [
    ...(files > 0 || folders === 0 ? [`${files} ${toNumber("files", files)}`] : []),
    ...(folders > 0 ? [`${folders} ${toNumber("folders", folders)}`] : []),
  ];
  return parts.join(" and ");
}

const toNumber = (noun: string, count: number): string =>
  count === 1 ? noun.replace(/(?<=[^s])s$/u, "") : noun;

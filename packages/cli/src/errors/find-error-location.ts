import { fileURLToPath } from "node:url";

/**
 * Returns where an error was thrown, as `file:line` or `file:line:column`; undefined when unknown. The stack of a syntax
 * error starts with the location. Otherwise it is the innermost frame inside `folder`, or else the first one outside of
 * node_modules.
 */
export function findErrorLocation(error: unknown, folder?: string): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const [, firstLine] = /^((?:file:\/\/|\/|[A-Z]:\\)[^\n]*:\d+)\n/.exec(stack) ?? [];
  if (firstLine !== undefined) return parseLocation(firstLine);
  const frames = [...stack.matchAll(/^ {4}at (?:.*\()?((?:file:\/\/|\/|[A-Z]:\\)[^\n]*?:\d+:\d+)\)?$/gm)]
    .map(([, place = ""]) => parseLocation(place))
    .filter((place) => !/[\\/]node_modules[\\/]/.test(place));
  return frames.find((place) => folder !== undefined && place.startsWith(folder)) ?? frames[0];
}

/** Strips the query that `capstan dev` adds to module URLs. */
function parseLocation(location: string): string {
  const [, file = "", position = ""] = /^(.*?)((?::\d+){1,2})$/.exec(location) ?? [];
  const path = file.startsWith("file:")
    ? fileURLToPath(file.replace(/\?.*$/, ""))
    : file.replace(/\?.*$/, "");
  return `${path}${position}`;
}

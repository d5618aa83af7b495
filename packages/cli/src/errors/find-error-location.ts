import { fileURLToPath } from "node:url";

/**
 * Where an error was made, as `file:line` or `file:line:column`; undefined where nothing tells it. The stack of a syntax
 * error begins with the place. That of a throw has frames: the innermost below `folder` is meant, else one of no package.
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

/** `capstan dev` marks addresses of modules behind a "?". */
function parseLocation(location: string): string {
  const [, file = "", position = ""] = /^(.*?)((?::\d+){1,2})$/.exec(location) ?? [];
  const path = file.startsWith("file:")
    ? fileURLToPath(file.replace(/\?.*$/, ""))
    : file.replace(/\?.*$/, "");
  return `${path}${position}`;
}

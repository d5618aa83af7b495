import { fileURLToPath } from "node:url";

/**
 * Where an error was made, as `file:line` or `file:line:column`; undefined where nothing tells it. The stack of a syntax
 * error begins with the place. That of a throw has frames: the innermost below `folder` is meant, else one of no package.
 */
export function errorPlace(error: unknown, folder?: string): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const [, beginning] = /^((?:file:\/\/|\/|[A-Z]:\\)[^\n]*:\d+)\n/.exec(stack) ?? [];
  if (beginning !== undefined) return placeIn(beginning);
  const frames = [...stack.matchAll(/^ {4}at (?:.*\()?((?:file:\/\/|\/|[A-Z]:\\)[^\n]*?:\d+:\d+)\)?$/gm)]
    .map(([, place = ""]) => placeIn(place))
    .filter((place) => !/[\\/]node_modules[\\/]/.test(place));
  return frames.find((place) => folder !== undefined && place.startsWith(folder)) ?? frames[0];
}

/** `capstan dev` marks addresses of modules behind a "?". */
function placeIn(address: string): string {
  const [, file = "", position = ""] = /^(.*?)((?::\d+){1,2})$/.exec(address) ?? [];
  const path = file.startsWith("file:")
    ? fileURLToPath(file.replace(/\?.*$/, ""))
    : file.replace(/\?.*$/, "");
  return `${path}${position}`;
}

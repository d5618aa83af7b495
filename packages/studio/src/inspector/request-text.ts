import type { ExactRequest } from "capstan/client";

/** A body in three parts: as in the previous request, added since then, and again as before. */
export type RequestDifference = { readonly head: string; readonly added: string; readonly tail: string };

/** Finds what a body has in addition to the previous one. Without one, everything is added. */
export function splitAdded(previous: string | undefined, body: string): RequestDifference {
  if (previous === undefined) return { head: "", added: body, tail: "" };
  const limit = Math.min(previous.length, body.length);
  let start = 0;
  while (start < limit && previous[start] === body[start]) start += 1;
  let end = 0;
  while (end < limit - start && previous.at(-1 - end) === body.at(-1 - end)) end += 1;
  const until = body.length - end;
  return { head: body.slice(0, start), added: body.slice(start, until), tail: body.slice(until) };
}

/** Formats a body as indented JSON; other text stays as it is. */
export function formatBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Formats a request as a command. Headers with a key become `$KEY`, for the user to fill in. */
export function formatCurl({ url, method, headers, body }: ExactRequest): string {
  const lines = Object.entries(headers).map(([name, value]) =>
    value === "***"
      ? `  -H "${name}: ${name.toLowerCase() === "authorization" ? "Bearer " : ""}$KEY"`
      : `  -H ${quote(`${name}: ${value}`)}`,
  );
  return [`curl -X ${method} ${quote(url)}`, ...lines, `  --data-raw ${quote(body)}`].join(" \\\n");
}

const encoder = new TextEncoder();

/** Counts the bytes that were sent. */
export const countUtf8Bytes = (text: string): number => encoder.encode(text).length;

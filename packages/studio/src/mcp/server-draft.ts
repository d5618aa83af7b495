import type { NewMcpServer } from "capstan/client";

/** The fields of the form, as typed. */
export type ServerDraft = {
  readonly kind: "url" | "command";
  readonly name: string;
  readonly url: string;
  readonly headers: string;
  readonly command: string;
  /** One per line. */
  readonly args: string;
  readonly env: string;
};

/** Returns the server to add, or what is wrong. */
export function toNewServer(draft: ServerDraft): NewMcpServer | string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/.test(draft.name.trim()))
    return "Enter a name of letters, digits, - and _.";
  if (draft.kind === "url") {
    const url = draft.url.trim();
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
      return "Enter a URL that starts with https:// or http://.";
    const headers = parseLines(draft.headers, /^([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*)$/);
    if (typeof headers === "string") return `Headers: ${headers} Write each line as Name: value.`;
    return { url, ...(Object.keys(headers).length > 0 && { headers }) };
  }
  if (draft.command.trim() === "") return "Enter a program.";
  const env = parseLines(draft.env, /^([A-Za-z_]\w*)=(.*)$/);
  if (typeof env === "string") return `Variables: ${env} Write each line as NAME=value.`;
  const args = draft.args.split("\n").filter((line) => line.trim() !== "");
  return {
    command: draft.command.trim(),
    ...(args.length > 0 && { args }),
    ...(Object.keys(env).length > 0 && { env }),
  };
}

/** Parses one pair per line, or returns what is wrong. */
function parseLines(text: string, pattern: RegExp): Readonly<Record<string, string>> | string {
  const pairs: [string, string][] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const [, name, value] = pattern.exec(line.trim()) ?? [];
    // Without the line, which may contain a secret.
    if (name === undefined || value === undefined) return `line ${index + 1} is not valid.`;
    pairs.push([name, value]);
  }
  return Object.fromEntries(pairs);
}

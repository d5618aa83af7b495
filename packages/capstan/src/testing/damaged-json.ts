import type { Json } from "../json.ts";

/** What models do to JSON. */
export type Damages = {
  readonly quote: '"' | "'" | "“";
  readonly bareKeys: boolean;
  readonly python: boolean;
  readonly trailingCommas: boolean;
  /** Put wherever a space may be. */
  readonly comment: string;
  readonly rawBreaks: boolean;
  readonly fence: string | undefined;
  readonly byteOrderMark: boolean;
};

/** A value as a text with all these damages, which still leaves no doubt about what it says. */
export function damagedJson(value: Json, how: Damages): string {
  const body = write(value, how);
  const fenced = how.fence === undefined ? body : `${how.fence}${body}\n\`\`\``;
  return `${how.byteOrderMark ? "\uFEFF" : ""}${fenced}`;
}

function write(value: Json, how: Damages): string {
  if (typeof value === "string") return writeText(value, how);
  if (Array.isArray(value))
    return writeMembers(
      "[]",
      value.map((item) => write(item, how)),
      how,
    );
  if (typeof value !== "object" || value === null) {
    const word = JSON.stringify(value);
    return how.python ? ({ true: "True", false: "False", null: "None" }[word] ?? word) : word;
  }
  const members = Object.entries(value).map(([key, member]) => {
    return `${writeKey(key, how)}${how.comment}:${how.comment}${write(member, how)}`;
  });
  return writeMembers("{}", members, how);
}

function writeMembers(brackets: "[]" | "{}", members: readonly string[], how: Damages): string {
  const { comment } = how;
  const last = how.trailingCommas && members.length > 0 ? "," : "";
  return `${brackets[0]}${comment}${members.join(`,${comment}`)}${last}${comment}${brackets[1]}`;
}

function writeKey(key: string, how: Damages): string {
  const isName = /^[a-z_$][\w$]*$/i.test(key) && !/^(?:true|false|null|none)$/i.test(key);
  return how.bareKeys && isName ? key : writeText(key, how);
}

function writeText(text: string, { quote, rawBreaks }: Damages): string {
  // An escape stays whole: `\n` is a line break, the end of `\\n` is not.
  const inner = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/\\.|['“”]/g, (found) => {
      if (found === "\\n") return rawBreaks ? "\n" : found;
      if (found === "'") return quote === "'" ? "\\'" : found;
      if (found === "“") return "\\u201c";
      return found === "”" ? "\\u201d" : found;
    });
  return `${quote}${inner}${quote === "“" ? "”" : quote}`;
}

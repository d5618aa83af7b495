import type { Json } from "../base/json.ts";

/** Damage that models do to JSON. */
export type JsonDamage = {
  readonly quote: '"' | "'" | "“";
  readonly bareKeys: boolean;
  readonly python: boolean;
  readonly trailingCommas: boolean;
  /** Inserted wherever whitespace is allowed. */
  readonly comment: string;
  readonly rawBreaks: boolean;
  readonly fence: string | undefined;
  readonly byteOrderMark: boolean;
};

/** Serializes a value with the given damage. The result is still unambiguous. */
export function stringifyDamaged(value: Json, damage: JsonDamage): string {
  const body = writeValue(value, damage);
  const fenced = damage.fence === undefined ? body : `${damage.fence}${body}\n\`\`\``;
  return `${damage.byteOrderMark ? "\uFEFF" : ""}${fenced}`;
}

function writeValue(value: Json, damage: JsonDamage): string {
  if (typeof value === "string") return writeText(value, damage);
  if (Array.isArray(value))
    return writeMembers(
      "[]",
      value.map((item) => writeValue(item, damage)),
      damage,
    );
  if (typeof value !== "object" || value === null) {
    const word = JSON.stringify(value);
    return damage.python ? ({ true: "True", false: "False", null: "None" }[word] ?? word) : word;
  }
  const members = Object.entries(value).map(([key, member]) => {
    return `${writeKey(key, damage)}${damage.comment}:${damage.comment}${writeValue(member, damage)}`;
  });
  return writeMembers("{}", members, damage);
}

function writeMembers(brackets: "[]" | "{}", members: readonly string[], damage: JsonDamage): string {
  const { comment } = damage;
  const last = damage.trailingCommas && members.length > 0 ? "," : "";
  return `${brackets[0]}${comment}${members.join(`,${comment}`)}${last}${comment}${brackets[1]}`;
}

function writeKey(key: string, damage: JsonDamage): string {
  const isName = /^[a-z_$][\w$]*$/i.test(key) && !/^(?:true|false|null|none)$/i.test(key);
  return damage.bareKeys && isName ? key : writeText(key, damage);
}

function writeText(text: string, { quote, rawBreaks }: JsonDamage): string {
  // Keep escapes intact: `\n` is a line break, the end of `\\n` is not.
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

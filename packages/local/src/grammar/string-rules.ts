import { buildPattern, type PatternLimits } from "./pattern-rules.ts";
import { createSchemaError, type Location, type Rules, repeat } from "./rules.ts";

/** Keywords about texts. */
export type TextLimits = Partial<PatternLimits> & { readonly format?: string };

// Escapes of surrogates are excluded: two of them may not form a character.
const escaped =
  '"\\\\" ( ["\\\\/bfnrt] | "u" ( [0-9a-cA-CefEF] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2} ) )';
const anyCharacter = `[^"\\\\\\x00-\\x1F\\x7F] | ${escaped}`;

const year = "[12] [0-9]{3}";
const monthAndDay = '( "0" [1-9] | "1" [0-2] ) "-" ( "0" [1-9] | "1" [0-9] | "2" [0-8] )';
const time = '( [01] [0-9] | "2" [0-3] ) ":" [0-5] [0-9] ":" [0-5] [0-9] "Z"';
const byte = '( "25" [0-5] | "2" [0-4] [0-9] | "1" [0-9]{2} | [1-9]? [0-9] )';
const word = "[a-z] [a-z0-9]{0,30}";
const host = `${word} "." [a-z]{2,10}`;
const uri = `"https://" ${host} ( "/" [a-zA-Z0-9._~]{1,30} ){0,8}`;
const segment = '"/" [a-zA-Z0-9_]{1,30}';

/** A grammar for each format that the validator checks, and the shortest and longest text of it. */
const formats: { readonly [format: string]: readonly [string, number, number] } = {
  date: [`${year} "-" ${monthAndDay}`, 10, 10],
  time: [time, 9, 9],
  "date-time": [`${year} "-" ${monthAndDay} "T" ${time}`, 20, 20],
  duration: ['"P" ( [1-9] [0-9]{0,2} "D" | "T" [1-9] [0-9]{0,2} [HMS] )', 3, 6],
  uri: [uri, 12, 300],
  url: [uri, 12, 300],
  "uri-reference": [uri, 12, 300],
  "uri-template": [uri, 12, 300],
  email: [`${word} "@" ${host}`, 6, 80],
  hostname: [host, 4, 42],
  ipv4: [`${byte} ( "." ${byte} ){3}`, 7, 15],
  ipv6: ['[0-9a-f]{1,4} ( ":" [0-9a-f]{1,4} ){7}', 15, 39],
  regex: ["[a-z]{1,30}", 1, 30],
  uuid: ['[0-9a-f]{8} "-" [0-9a-f]{4} "-4" [0-9a-f]{3} "-" [89ab] [0-9a-f]{3} "-" [0-9a-f]{12}', 36, 36],
  "json-pointer": [`( ${segment} ){0,8}`, 0, 248],
  "json-pointer-uri-fragment": [`"#" ( ${segment} ){0,8}`, 1, 249],
  "relative-json-pointer": [`[0-9] ( ${segment} ){0,8}`, 1, 249],
};

/** Returns an expression for the JSON strings within the limits. */
export function buildString(rules: Rules, limits: TextLimits, location: Location): string {
  const { minLength = 0, maxLength = Infinity, pattern, format } = limits;
  if (minLength > maxLength) throw createSchemaError(location, "minLength", "is larger than maxLength");
  const known = format !== undefined && Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (known) {
    const [body, shortest, longest] = known;
    if (pattern !== undefined) throw createSchemaError(location, "pattern", "is combined with a format");
    if (shortest < minLength || longest > maxLength)
      throw createSchemaError(
        location,
        "format",
        `has texts of ${shortest} to ${longest} characters, which the length limits exclude`,
      );
    return `"\\"" ${rules.add(body)} "\\""`;
  }
  if (pattern !== undefined)
    return `"\\"" ${buildPattern(rules, { pattern, minLength, maxLength }, location)} "\\""`;
  const character = rules.add(anyCharacter);
  return `"\\"" ${repeat(rules, character, { min: minLength, max: maxLength })} "\\""`;
}

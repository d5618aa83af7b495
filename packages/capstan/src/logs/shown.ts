import { escapeUnseen, toJsonLine } from "../secrets/json-text.ts";
import { maskSecrets } from "../secrets/mask-secrets.ts";

const longestName = 128;
const longestText = 200;

/** What comes from outside, as it can stand in a log for people: masked, cut, and with every character visible. */
export interface Shown {
  /** A name or an id: bare when it can be mistaken for nothing else, else in quotes. */
  name(text: string): string;
  text(text: string): string;
  json(value: unknown): string;
  /** All of a text, line by line. */
  lines(text: string): string[];
}

export function shown(secrets: readonly string[]): Shown {
  const mask = maskSecrets(secrets);
  return {
    name(text) {
      const name = cut(mask(text), longestName);
      return /^[\w.:/~*-]+$/.test(name) ? name : toJsonLine(name);
    },
    // Masked before it is cut: half a secret would not be recognised.
    text: (text) => toJsonLine(cut(mask(text), longestText)),
    json: (value) => cut(toJsonLine(value, mask), longestText),
    lines: (text) => mask(text).replaceAll("\t", "  ").split(/\r?\n/).map(escapeUnseen),
  };
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;
}

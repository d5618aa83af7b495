import { escapeUnseen, toJsonLine } from "../secrets/json-text.ts";
import { maskSecrets } from "../secrets/mask-secrets.ts";

const maxNameLength = 128;
const maxTextLength = 200;

/** What comes from outside, as it can stand in a log for people: masked, cut, and with every character visible. */
export interface LogFormatter {
  /** A name or an id: bare when it can be mistaken for nothing else, else in quotes. */
  name(text: string): string;
  text(text: string): string;
  json(value: unknown): string;
  /** All of a text, line by line. */
  lines(text: string): string[];
}

export function createLogFormatter(secrets: readonly string[]): LogFormatter {
  const mask = maskSecrets(secrets);
  return {
    name(text) {
      const name = truncateLogText(mask(text), maxNameLength);
      return /^[\w.:/~*-]+$/.test(name) ? name : toJsonLine(name);
    },
    // Masked before it is cut: half a secret would not be recognised.
    text: (text) => toJsonLine(truncateLogText(mask(text), maxTextLength)),
    json: (value) => truncateLogText(toJsonLine(value, mask), maxTextLength),
    lines: (text) => mask(text).replaceAll("\t", "  ").split(/\r?\n/).map(escapeUnseen),
  };
}

function truncateLogText(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit).replace(/[\ud800-\udbff]$/, "")}…`;
}

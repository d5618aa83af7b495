import { escapeUnseen, toJsonLine } from "../secrets/json-text.ts";
import { maskSecrets } from "../secrets/mask-secrets.ts";

const maxNameLength = 128;
const maxTextLength = 200;

/** Formats untrusted values for a readable log: masked, truncated, and with control characters escaped. */
export interface LogFormatter {
  /** Formats a name or id, quoted unless it is unambiguous without quotes. */
  name(text: string): string;
  text(text: string): string;
  json(value: unknown): string;
  /** Returns the whole text as lines, without truncation. */
  lines(text: string): string[];
}

export function createLogFormatter(secrets: readonly string[]): LogFormatter {
  const mask = maskSecrets(secrets);
  return {
    name(text) {
      const name = truncateLogText(mask(text), maxNameLength);
      return /^[\w.:/~*-]+$/.test(name) ? name : toJsonLine(name);
    },
    // Mask before truncating: a truncated secret would not be recognized.
    text: (text) => toJsonLine(truncateLogText(mask(text), maxTextLength)),
    json: (value) => truncateLogText(toJsonLine(value, mask), maxTextLength),
    lines: (text) => mask(text).replaceAll("\t", "  ").split(/\r?\n/).map(escapeUnseen),
  };
}

function truncateLogText(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit).replace(/[\ud800-\udbff]$/, "")}…`;
}

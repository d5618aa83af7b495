import type { Event } from "capstan";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { truncateColumns } from "../terminal/wrap.ts";
import { formatDuration, formatTime } from "./format-usage.ts";

/** What a run does now, in a few words. */
export interface Activity {
  handleEvent(event: Event): void;
  clear(): void;
  /** Such as "thinking"; empty when unknown. Counts down to the next attempt while a model or tool is not reachable. */
  readonly text: string;
}

const maxReasonColumns = 50;

/** The next call of a model or tool that failed, by the clock of `getTime`. */
type NextAttempt = { readonly at: number; readonly reason: string };

export function createActivity(getTime: () => number): Activity {
  let text = "";
  let nextAttempt: NextAttempt | undefined;
  return {
    handleEvent(event) {
      text = findText(event) ?? text;
      nextAttempt = findNextAttempt(event, getTime());
    },
    clear() {
      text = "";
      nextAttempt = undefined;
    },
    get text() {
      if (!nextAttempt) return text;
      return `${nextAttempt.reason}, next in ${formatDuration(Math.max(0, nextAttempt.at - getTime()))},`;
    },
  };
}

function findNextAttempt(event: Event, now: number): NextAttempt | undefined {
  if (event.type === "retry") {
    const message = truncateColumns(escapeTerminalLine(event.message), maxReasonColumns);
    return { at: now + event.waitMs, reason: `attempt ${event.attempt} failed (${message})` };
  }
  if (event.type !== "waiting" || event.until === undefined) return undefined;
  const reason = `waiting for the model provider until ${formatTime(event.until)}`;
  return { at: now + event.until - Date.now(), reason };
}

function findText(event: Event): string | undefined {
  if (event.type === "turn_start" || event.type === "message") return "";
  if (event.type === "reasoning_delta") return "thinking";
  if (event.type === "content_delta") return "writing";
  if (event.type === "compaction_start") return "summarizing older messages";
  if (event.type === "tool_call_delta") return `preparing ${escapeTerminalLine(event.name)}`;
  return undefined;
}

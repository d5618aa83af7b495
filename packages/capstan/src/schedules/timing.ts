import { AgentError } from "../base/errors.ts";
import { formatCount } from "../base/format-count.ts";
import { findNextTime, parseCron } from "./cron.ts";
import { parseWhen } from "./parse-when.ts";
import { assertTimeZone, fromLocalTime, toLocalTime } from "./time-zone.ts";

/** When the runs of a schedule start: at a time, at intervals, by a cron expression, or in words. Set one of the fields. */
export type TimingOptions = {
  /** A date. A text without an offset, such as `2026-03-01T09:00`, is a local time of `timeZone`. */
  readonly at?: Date | number | string;
  /** An interval: milliseconds, or a text such as `30s`, `15m`, `2h`, `1d`. */
  readonly every?: number | string;
  /** Minute, hour, day of the month, month, day of the week: `0 9 * * 1-5`. */
  readonly cron?: string;
  /** In words, see `parseWhen`: `tomorrow at 9`, `in 20 minutes`, `every weekday at 8:15`. */
  readonly when?: string;
  /** Default: the machine's. */
  readonly timeZone?: string;
};

/** A timing as it is stored. */
export type Timing =
  | { readonly type: "at"; readonly at: number }
  | { readonly type: "every"; readonly everyMs: number; readonly from: number }
  | { readonly type: "cron"; readonly cron: string };

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Throws `invalid_input` for a timing that is not one, or never comes. */
export function readTiming(options: TimingOptions, timeZone: string, now: number): Timing {
  const { at, every, cron, when } = options;
  assertTimeZone(timeZone);
  const given = Object.entries({ at, every, cron, when }).filter(([, value]) => value !== undefined);
  if (given.length !== 1) {
    const fields = given.length === 0 ? "none of them" : given.map(([name]) => `\`${name}\``).join(" and ");
    throw new AgentError(
      "invalid_input",
      `A schedule needs one of \`at\`, \`every\`, \`cron\` and \`when\`, not ${fields}.`,
    );
  }
  if (when !== undefined) return readTiming(parseWhen(when, { timeZone, now }), timeZone, now);
  if (at !== undefined) return { type: "at", at: readTime(at, timeZone) };
  if (every !== undefined) return { type: "every", everyMs: readInterval(every), from: now };
  const timing = { type: "cron", cron: (cron ?? "").trim().replaceAll(/\s+/g, " ") } as const;
  if (findNext(timing, timeZone, now) === undefined)
    throw new AgentError("invalid_input", `The cron expression "${timing.cron}" never matches a date.`);
  return timing;
}

function readTime(at: Date | number | string, timeZone: string): number {
  const isLocal = typeof at === "string" && /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?$/.test(at);
  const hasOffset = typeof at === "string" && /T.*(Z|[+-]\d\d:?\d\d)$/.test(at);
  const isText = typeof at === "string";
  const parsed = isLocal
    ? Date.parse(`${at.replace(" ", "T")}${at.length === 10 ? "T00:00" : ""}Z`)
    : undefined;
  const time = parsed ?? (isText && !hasOffset ? Number.NaN : new Date(at).getTime());
  if (Number.isNaN(time) || time < 0) {
    const message = `\`at\` must be a date, such as "2026-03-01T09:00" or "2026-03-01T09:00:00Z", not ${JSON.stringify(at)}.`;
    throw new AgentError("invalid_input", message);
  }
  return Math.floor(parsed === undefined ? time : fromLocalTime(time, timeZone)[0]);
}

function readInterval(every: number | string): number {
  const [, count, unit = ""] = /^(\d{1,9})\s*([smhdw])$/.exec(String(every)) ?? [];
  const ms = typeof every === "number" ? every : Number(count) * (unitMs[unit] ?? Number.NaN);
  if (Number.isSafeInteger(ms) && ms > 0) return ms;
  const message = `\`every\` must be whole milliseconds or a text such as "30s", "15m", "2h" or "1d", not ${JSON.stringify(every)}.`;
  throw new AgentError("invalid_input", message);
}

/** Returns the first time after `after`; undefined if there is none. */
export function findNext(timing: Timing, timeZone: string, after: number): number | undefined {
  switch (timing.type) {
    case "at":
      return timing.at > after ? timing.at : undefined;
    case "every": {
      const { everyMs, from } = timing;
      return from + Math.max(1, Math.floor((after - from) / everyMs) + 1) * everyMs;
    }
    case "cron":
      return findNextTime(parseCron(timing.cron), timeZone, after);
  }
}

/** A number up to which times are counted: after a year away, the exact number does not matter. */
export const maxCount = 1000;

/** Counts the times after `after` and up to `until`, up to `maxCount`. */
export function countTimes(
  timing: Timing,
  timeZone: string,
  { after, until }: { readonly after: number; readonly until: number },
): number {
  let count = 0;
  for (let time = after; count < maxCount; count++) {
    const next = findNext(timing, timeZone, time);
    if (next === undefined || next > until) break;
    time = next;
  }
  return count;
}

/** Describes a timing: "every 15 minutes", "cron 0 9 * * 1-5 (Europe/Oslo)". */
export function formatTiming(timing: Timing, timeZone: string): string {
  switch (timing.type) {
    case "at":
      return formatDate(timing.at, timeZone);
    case "every":
      return `every ${formatInterval(timing.everyMs)}`;
    case "cron":
      return `cron ${timing.cron} (${timeZone})`;
  }
}

const unitNames = { w: "week", d: "day", h: "hour", m: "minute", s: "second" } as const;

/** Formats an interval for use after "every": "minute", "15 minutes", "1,500 ms". */
export function formatInterval(ms: number): string {
  for (const [unit, name] of Object.entries(unitNames)) {
    const count = ms / (unitMs[unit] ?? 1);
    if (Number.isInteger(count)) return count === 1 ? name : formatCount(count, name);
  }
  return `${ms.toLocaleString("en")} ms`;
}

const dayMs = 86_400_000;

/** Formats a date with its weekday and time zone: "Tuesday, 3 March 2026 at 09:00 (Europe/Oslo)". */
export function formatDate(time: number, timeZone: string): string {
  const style = { dateStyle: "full", timeStyle: "short", timeZone } as const;
  return `${new Intl.DateTimeFormat("en-GB", style).format(time)} (${timeZone})`;
}

/** Formats a date for a user who knows what day it is: "tomorrow, Tuesday, 3 March 2026 at 09:00 (Europe/Oslo)". */
export function formatDateFrom(now: number, time: number, timeZone: string): string {
  const getDay = (value: number) => Math.floor(toLocalTime(value, timeZone) / dayMs);
  const days = getDay(time) - getDay(now);
  const day = days === 0 ? "today, " : days === 1 ? "tomorrow, " : "";
  return `${day}${formatDate(time, timeZone)}`;
}

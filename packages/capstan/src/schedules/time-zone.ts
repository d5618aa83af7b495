import { AgentError } from "../base/errors.ts";

const formatters = new Map<string, Intl.DateTimeFormat>();
const maxFormatters = 100;

/** Throws `invalid_input` for an unknown time zone. */
function getFormatter(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known) return known;
  try {
    const formatter = new Intl.DateTimeFormat("en-US", {
      ...{ timeZone, calendar: "iso8601", numberingSystem: "latn", hourCycle: "h23" },
      ...{ year: "numeric", month: "numeric", day: "numeric" },
      ...{ hour: "numeric", minute: "numeric", second: "numeric" },
    });
    if (formatters.size >= maxFormatters) formatters.clear();
    formatters.set(timeZone, formatter);
    return formatter;
  } catch (cause) {
    const message = `Unknown time zone "${timeZone}". Use a name such as "Europe/Oslo".`;
    throw new AgentError("invalid_input", message, { cause });
  }
}

/** Throws `invalid_input` for an unknown time zone. */
export function assertTimeZone(timeZone: string): void {
  getFormatter(timeZone);
}

/**
 * Returns what the clocks of a time zone show at a time, as the milliseconds of a date in UTC: its `getUTCHours()` are
 * the local hours.
 */
export function toLocalTime(time: number, timeZone: string): number {
  const fields: Record<string, number> = {};
  for (const { type, value } of getFormatter(timeZone).formatToParts(time)) fields[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
  const milliseconds = ((time % 1000) + 1000) % 1000;
  return Date.UTC(year, month - 1, day, hour, minute, second) + milliseconds;
}

const dayMs = 86_400_000;

/**
 * Returns the times at which the clocks of a time zone show a local time, see `toLocalTime`: two when clocks are set back.
 * For a local time that is skipped when clocks are set forward, returns the time at which that happens.
 */
export function fromLocalTime(local: number, timeZone: string): readonly [number, ...number[]] {
  const getOffset = (time: number) => toLocalTime(time, timeZone) - time;
  const before = getOffset(local - dayMs);
  const after = getOffset(local + dayMs);
  const [earlier, later] = [local - Math.max(before, after), local - Math.min(before, after)];
  if (before === after) return [earlier];
  const times = [earlier, later].filter((time) => toLocalTime(time, timeZone) === local);
  const [first, ...others] = times;
  if (first !== undefined) return [first, ...others];
  let [low, high] = [earlier, later];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (getOffset(middle) === before) low = middle;
    else high = middle;
  }
  return [high];
}

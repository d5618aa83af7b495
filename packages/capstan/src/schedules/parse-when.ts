import { AgentError } from "../base/errors.ts";
import { fromLocalTime, toLocalTime } from "./time-zone.ts";
import type { TimingOptions } from "./timing.ts";

type When = Pick<TimingOptions, "at" | "every" | "cron">;
type Place = { readonly timeZone: string; readonly now: number };
type TimeOfDay = { readonly hour: number; readonly minute: number };

const dayMs = 86_400_000;
const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const unitMs: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: dayMs,
  week: 7 * dayMs,
};
/** A day without a time means this. */
const morning: TimeOfDay = { hour: 9, minute: 0 };

/**
 * Parses a time in plain words: "tomorrow at 9", "in 20 minutes", "monday at 14:30", "every weekday at 8:15",
 * "every 2 hours", a cron expression, or a date. Throws `invalid_input`.
 */
export function parseWhen(text: string, place: Place): When {
  const words = text.trim().toLowerCase().replaceAll(/\s+/g, " ").replace(/[.!]$/, "");
  const found =
    parseRecurring(words) ?? parseDelay(words, place) ?? parseDay(words, place) ?? parseExact(text.trim());
  if (found) return found;
  const message = `The time "${text.slice(0, 100)}" is not understood. Use a date such as "2026-03-01T09:00", words such as "tomorrow at 9", "in 20 minutes" or "every weekday at 8:15", or a cron expression.`;
  throw new AgentError("invalid_input", message);
}

function parseExact(text: string): When | undefined {
  if (/^\d{4}-\d\d-\d\d/.test(text)) return { at: text };
  return text.split(/\s+/).length === 5 && /^[\d*]/.test(text) ? { cron: text } : undefined;
}

function parseRecurring(words: string): When | undefined {
  const [, count = "1", unit = ""] =
    /^every (?:(\d{1,4}) )?(second|minute|hour|day|week)s?$/.exec(words) ?? [];
  if (unit !== "") return { every: Number(count) * (unitMs[unit] ?? 0) };
  const [, day = "", timeText] =
    /^(?:every |each )?(day|morning|weekday|weekend|[a-z]+day)s?(?: at (.+))?$/.exec(words) ?? [];
  const isRecurring = /^(every|each) /.test(words) || words.startsWith("weekdays");
  const days = { day: "*", morning: "*", weekday: "1-5", weekend: "0,6" }[day] ?? findWeekday(day);
  const time = timeText === undefined ? morning : parseTime(timeText);
  if (!isRecurring || days === undefined || !time) return undefined;
  return { cron: `${time.minute} ${time.hour} * * ${days}` };
}

function findWeekday(day: string): string | undefined {
  const index = weekdays.indexOf(day);
  return index < 0 ? undefined : String(index);
}

function parseDelay(words: string, { now }: Place): When | undefined {
  const [, count, unit = ""] =
    /^in (an?|\d{1,4}) (second|minute|hour|day|week)s?$/.exec(
      words.replace("in half an hour", "in 30 minutes"),
    ) ?? [];
  const ms = unitMs[unit];
  if (count === undefined || ms === undefined) return undefined;
  return { at: now + (/^\d/.test(count) ? Number(count) : 1) * ms };
}

function parseDay(words: string, { timeZone, now }: Place): When | undefined {
  const [, dayText = "", timeText] =
    /^(?:(?:on |next )?(today|tonight|tomorrow|[a-z]+day))?(?: ?(?:at )?(.+))?$/.exec(words) ?? [];
  const days = countDays(dayText, new Date(toLocalTime(now, timeZone)).getUTCDay());
  const evening = dayText === "tonight" ? { hour: 20, minute: 0 } : morning;
  const time = timeText === undefined ? evening : parseTime(timeText);
  if (words === "" || days === undefined || !time) return undefined;
  const today = Math.floor(toLocalTime(now, timeZone) / dayMs) * dayMs;
  const toTime = (day: number) =>
    fromLocalTime(today + day * dayMs + time.hour * 3_600_000 + time.minute * 60_000, timeZone)[0];
  // A time alone means its next one, and a weekday that of the next week if today's is over.
  const isOver = toTime(days) <= now;
  const step = dayText === "" ? 1 : weekdays.includes(dayText) ? 7 : 0;
  return { at: toTime(isOver ? days + step : days) };
}

/** Counts the days until a day; undefined for a word that names none. */
function countDays(day: string, today: number): number | undefined {
  if (day === "" || day === "today" || day === "tonight") return 0;
  if (day === "tomorrow") return 1;
  const index = weekdays.indexOf(day);
  return index < 0 ? undefined : (index - today + 7) % 7;
}

function parseTime(text: string): TimeOfDay | undefined {
  if (text === "noon") return { hour: 12, minute: 0 };
  if (text === "midnight") return { hour: 0, minute: 0 };
  const [, hourText = "", minuteText = "0", half] =
    /^(\d{1,2})(?:[:.](\d\d))? ?(am|pm)?(?: o'clock)?$/.exec(text) ?? [];
  const [given, minute] = [Number(hourText), Number(minuteText)];
  if (hourText === "" || given > 23 || minute > 59 || (half && (given < 1 || given > 12))) return undefined;
  const hour = half === undefined ? given : (given % 12) + (half === "pm" ? 12 : 0);
  return { hour, minute };
}

import { AgentError } from "../base/errors.ts";
import { fromLocalTime, toLocalTime } from "./time-zone.ts";

/** The values of each field of a cron expression that a time may have. */
export type Cron = {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** If both the day of the month and the weekday are restricted, one of them is enough. */
  readonly isEitherDay: boolean;
};

type Field = { readonly title: string; readonly min: number; readonly max: number; readonly names?: string };

const fields: readonly Field[] = [
  { title: "minute", min: 0, max: 59 },
  { title: "hour", min: 0, max: 23 },
  { title: "day of the month", min: 1, max: 31 },
  { title: "month", min: 1, max: 12, names: "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC" },
  { title: "day of the week", min: 0, max: 7, names: "SUNMONTUEWEDTHUFRISAT" },
];

/** Parses the five fields of a cron expression. Throws `invalid_input`. */
export function parseCron(expression: string): Cron {
  const texts = expression.trim().split(/\s+/);
  if (texts.length !== fields.length) {
    const message = `The cron expression "${expression}" must have five fields: minute, hour, day of the month, month and day of the week, such as "0 9 * * 1-5".`;
    throw new AgentError("invalid_input", message);
  }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = fields.map((field, index) =>
    parseField(texts[index] ?? "", field, expression),
  );
  const [, , dayText = "", , weekdayText = ""] = texts;
  return {
    ...{ minutes, hours, days: new Set(days), months: new Set(months) },
    weekdays: new Set(weekdays.map((day) => day % 7)),
    isEitherDay: !dayText.startsWith("*") && !weekdayText.startsWith("*"),
  };
}

function parseField(text: string, field: Field, expression: string): readonly number[] {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const [, range = "", first, last, step] =
      /^(\*|([0-9]{1,2}|[A-Za-z]{3})(?:-([0-9]{1,2}|[A-Za-z]{3}))?)(?:\/([0-9]{1,2}))?$/.exec(part) ?? [];
    const isWhole = range === "*";
    const from = isWhole ? field.min : parseCronValue(first ?? "", field);
    const isOpen = isWhole || (step !== undefined && last === undefined);
    const to = isOpen ? field.max : parseCronValue(last ?? first ?? "", field);
    const by = step === undefined ? 1 : Number(step);
    const isValid = range !== "" && from >= field.min && to <= field.max && from <= to && by >= 1;
    if (!isValid) {
      const message = `The ${field.title} "${text}" of the cron expression "${expression}" is invalid: use ${field.min} to ${field.max}, ranges such as 1-5, lists such as 1,3, and steps such as */2.`;
      throw new AgentError("invalid_input", message);
    }
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return [...values].sort((left, right) => left - right);
}

/** Returns NaN, which no range includes, for a name that the field does not have. */
function parseCronValue(text: string, { names = "", min }: Field): number {
  if (/^\d+$/.test(text)) return Number(text);
  const place = names.indexOf(text.toUpperCase());
  return place >= 0 && place % 3 === 0 ? place / 3 + min : Number.NaN;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
/** A 29th of February may be eight years away. */
const maxDays = 9 * 366;

/**
 * Returns the first time after `after` that a cron expression matches in a time zone; undefined if there is none, as on a
 * 30th of February. When clocks are set forward, a skipped time takes place as they are. When they are set back, a time
 * that comes twice takes place the first time. An expression for every hour follows the passing of time instead.
 */
export function findNextTime(cron: Cron, timeZone: string, after: number): number | undefined {
  return cron.hours.length === 24
    ? findHourlyTime(cron, timeZone, after)
    : findLocalTime(cron, timeZone, after);
}

function findLocalTime(cron: Cron, timeZone: string, after: number): number | undefined {
  const localAfter = toLocalTime(after, timeZone);
  // From the day before: clocks that are set back at midnight show a part of that day again.
  const firstDay = Math.floor(localAfter / dayMs) * dayMs - dayMs;
  for (let day = firstDay; day < firstDay + maxDays * dayMs; day += dayMs) {
    if (!matchesDay(cron, day)) continue;
    for (const hour of cron.hours) {
      // Clocks are set by less than a day, so earlier times need no lookup.
      if (day + (hour + 1) * hourMs <= localAfter - dayMs) continue;
      for (const minute of cron.minutes) {
        const [time] = fromLocalTime(day + hour * hourMs + minute * minuteMs, timeZone);
        if (time > after) return time;
      }
    }
  }
  return undefined;
}

/** Goes through the minutes as they pass, so that an hour that comes twice counts twice. */
function findHourlyTime(cron: Cron, timeZone: string, after: number): number | undefined {
  const end = after + maxDays * dayMs;
  for (let time = (Math.floor(after / minuteMs) + 1) * minuteMs; time < end; ) {
    const local = toLocalTime(time, timeZone);
    const day = Math.floor(local / dayMs) * dayMs;
    if (!matchesDay(cron, day)) {
      time = Math.max(time + minuteMs, fromLocalTime(day + dayMs, timeZone)[0]);
      continue;
    }
    if (cron.minutes.includes(new Date(local).getUTCMinutes())) return time;
    time += minuteMs;
  }
  return undefined;
}

function matchesDay({ days, months, weekdays, isEitherDay }: Cron, day: number): boolean {
  const date = new Date(day);
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const [isDay, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday;
}

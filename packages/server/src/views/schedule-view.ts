import { toPlainText } from "capstan";
import type { ScheduleView } from "capstan/client/schedules";
import { findNext, formatTimes, type Schedule } from "capstan/schedules";

const maxTimes = 3;

/** Builds what clients get of a schedule. */
export function toScheduleView(schedule: Schedule, now: number): ScheduleView {
  const { id, agent, input, timing, timeZone, session, missed, state, createdAt, nextAt } = schedule;
  const { runs, missedCount, missedAt } = schedule;
  const next: number[] = [];
  for (let time = nextAt; time !== undefined && next.length < maxTimes; ) {
    next.push(time);
    time = findNext(timing, timeZone, Math.max(time, now));
  }
  const message = input.findLast((entry) => entry.type === "user");
  return {
    ...{ id, agent, timeZone, missed, state, createdAt, next, runs, missedCount },
    text: message ? toPlainText(message.content) : "",
    times: formatTimes(schedule),
    ...(session !== undefined && { session }),
    ...(missedAt !== undefined && { missedAt }),
  };
}

export { parseWhen } from "./parse-when.ts";
export {
  defaultScheduleLimits,
  formatTimes,
  type MissedPolicy,
  type Schedule,
  type ScheduleLimits,
  type ScheduleOptions,
  type StartedOccurrence,
} from "./schedule.ts";
export { type ScheduleToolInput, type ScheduleToolOptions, scheduleTool } from "./schedule-tool.ts";
export type { ScheduledRun } from "./start-due.ts";
export {
  addSchedule,
  createScheduleId,
  deleteSessionSchedules,
  listSchedules,
  loadSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  scheduleKind,
} from "./stored-schedules.ts";
export { findNext, formatDate, type Timing, type TimingOptions } from "./timing.ts";

import type { Part } from "../kernel/history.ts";
import type { MissedPolicy, Schedule } from "../schedules/schedule.ts";
import { createConnection } from "./connection.ts";
import type { ClientOptions } from "./create-client.ts";
import { createEnvironment } from "./environment.ts";

/** A schedule of the user. */
export type ScheduleView = Pick<
  Schedule,
  | "id"
  | "agent"
  | "timeZone"
  | "session"
  | "missed"
  | "state"
  | "createdAt"
  | "runs"
  | "missedCount"
  | "missedAt"
> & {
  /** The message, and when it is sent, for display. */
  readonly text: string;
  readonly times: string;
  /** The next times, in milliseconds since the epoch. */
  readonly next: readonly number[];
};

export type NewSchedule = {
  readonly input: string | readonly Part[];
  /** A date, words such as `tomorrow at 9` or `every weekday at 8:15`, or a cron expression. */
  readonly when: string;
  /** Default: that of this machine. */
  readonly timeZone?: string;
  /** Default: the first agent of the server. */
  readonly agent?: string;
  /** The session that the runs continue. Default: each run has its own. */
  readonly sessionId?: string;
  /** If no process was there: start one run late (the default), or none. */
  readonly missed?: MissedPolicy;
};

/** Starts runs at times. */
export interface SchedulesClient {
  /** Lists the user's schedules, the next ones first. */
  list(): Promise<readonly ScheduleView[]>;
  add(schedule: NewSchedule): Promise<ScheduleView>;
  get(scheduleId: string): Promise<ScheduleView>;
  pause(scheduleId: string): Promise<ScheduleView>;
  resume(scheduleId: string): Promise<ScheduleView>;
  /** Starts a run now, in addition to its times. */
  run(scheduleId: string): Promise<{ readonly runId: string; readonly sessionId: string }>;
  remove(scheduleId: string): Promise<void>;
}

/** Creates a client for schedules, apart from `createClient`: most pages need none. */
export function createSchedulesClient(options: ClientOptions = {}): SchedulesClient {
  const environment = createEnvironment(options);
  const { request } = createConnection(options, environment);
  const root = "/api/schedules";
  const getPath = (scheduleId: string) => `${root}/${encodeURIComponent(scheduleId)}`;
  return {
    async list() {
      const { schedules } = await request<{ schedules: readonly ScheduleView[] }>({
        method: "GET",
        path: root,
      });
      return schedules;
    },
    add: ({ timeZone = environment.getTimeZone(), ...schedule }) =>
      request({ method: "POST", path: root, body: { ...schedule, timeZone }, key: environment.createKey() }),
    get: (scheduleId) => request({ method: "GET", path: getPath(scheduleId) }),
    pause: (scheduleId) =>
      request({ method: "POST", path: `${getPath(scheduleId)}/pause`, isIdempotent: true }),
    resume: (scheduleId) =>
      request({ method: "POST", path: `${getPath(scheduleId)}/resume`, isIdempotent: true }),
    run: (scheduleId) =>
      request({ method: "POST", path: `${getPath(scheduleId)}/run`, key: environment.createKey() }),
    async remove(scheduleId) {
      await request({ method: "DELETE", path: getPath(scheduleId), isIdempotent: true });
    },
  };
}

import { AgentError, type ErrorData } from "../base/errors.ts";
import { toCanonicalJson } from "../base/json.ts";
import type { Entry } from "../kernel/history.ts";
import type { PolicyOverrides } from "../kernel/policy.ts";
import { getScope } from "../kernel/session-id.ts";
import { checkSettings, type ModelSettings } from "../kernel/settings/settings.ts";
import { type RunInput, readInput } from "../runtime/input.ts";
import {
  findNext,
  formatInterval,
  formatTiming,
  readTiming,
  type Timing,
  type TimingOptions,
} from "./timing.ts";

/** What happens if no process is there at a time: one run starts late, or none does. */
export type MissedPolicy = "run-once" | "skip";

export type ScheduleOptions = TimingOptions & {
  /** The name of the agent. */
  readonly agent: string;
  readonly input: RunInput;
  /** Makes the call idempotent: the same id and content return the existing schedule. Default: a new id of `user`. */
  readonly id?: string;
  /** Whose schedule it is: the part of its id, and of the sessions of its runs, before the first `~`. */
  readonly user?: string;
  /** The conversation that the runs continue. Default: each run has its own session. */
  readonly session?: string;
  /** Default: `run-once`. */
  readonly missed?: MissedPolicy;
  readonly policy?: PolicyOverrides;
  readonly settings?: ModelSettings;
  readonly tags?: readonly string[];
};

/** A run that a schedule has started, or could not start. */
export type StartedOccurrence = {
  readonly runId: string;
  readonly sessionId: string;
  /** The time for which it was scheduled, and when it was started. */
  readonly dueAt: number;
  readonly startedAt: number;
  /** Further times that no process was there for. */
  readonly missed?: number;
  /** Set if a user started it, and not the schedule. */
  readonly isManual?: true;
  /** Why it could not be started. */
  readonly error?: ErrorData;
};

/** Starts runs at times. */
export type Schedule = {
  readonly id: string;
  readonly agent: string;
  readonly input: readonly Entry[];
  readonly timing: Timing;
  /** The words that the timing was read from. */
  readonly when?: string;
  readonly timeZone: string;
  readonly session?: string;
  readonly missed: MissedPolicy;
  readonly policy?: PolicyOverrides;
  readonly settings?: ModelSettings;
  readonly tags?: readonly string[];
  /** `ended`: its only time is over, or its session was deleted. */
  readonly state: "active" | "paused" | "ended";
  readonly createdAt: number;
  /** When the next run starts, while it is active. */
  readonly nextAt?: number;
  /** The newest runs, the latest first. */
  readonly runs: readonly StartedOccurrence[];
  /** How many times have been missed so far, and when that was last noticed. */
  readonly missedCount: number;
  readonly missedAt?: number;
};

/** The time that a process is starting a run for. Kept until the run is stored, so that a repetition starts the same run. */
export type PendingOccurrence = {
  readonly dueAt: number;
  readonly claimedAt: number;
  readonly missed: number;
};

/** The body of a record. */
export type ScheduleData = Omit<Schedule, "id"> & {
  readonly dueAt?: number;
  readonly pending?: PendingOccurrence;
};

/** Limits what one user may schedule. */
export type ScheduleLimits = {
  /** Active and paused schedules of one user. */
  readonly maxSchedules: number;
  /** The shortest time between two runs of a schedule. */
  readonly minIntervalMs: number;
};

/** For users of a server and for models. */
export const defaultScheduleLimits: ScheduleLimits = { maxSchedules: 100, minIntervalMs: 60_000 };

const maxInputLength = 32_000;

/** Throws `invalid_input`. Without `nextAt`, its time is over. */
export function buildSchedule(id: string, options: ScheduleOptions, now: number): ScheduleData {
  const { agent, session, missed = "run-once", policy, settings, tags, when } = options;
  const timeZone = options.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const { entries: input, instructions } = readInput(options.input);
  const problem = findProblem(id, options, { input, instructions });
  if (problem) throw new AgentError("invalid_input", `The schedule cannot be stored: ${problem}.`);
  const timing = readTiming(options, timeZone, now);
  const nextAt = findNext(timing, timeZone, now);
  return {
    ...(nextAt !== undefined && { dueAt: nextAt, nextAt }),
    ...{ agent, input, timing, timeZone, missed },
    ...(when !== undefined && { when }),
    ...(session !== undefined && { session }),
    ...(policy && { policy }),
    ...(settings && { settings: checkSettings("schedule", settings) }),
    ...(tags && { tags }),
    ...{ state: "active", createdAt: now, runs: [], missedCount: 0 },
  };
}

function findProblem(
  id: string,
  { agent, session, user, missed = "run-once" }: ScheduleOptions,
  { input, instructions }: { readonly input: readonly Entry[]; readonly instructions: string | undefined },
): string | undefined {
  const scope = getScope(id);
  if (!/^(?:[^~]+~)?[\w-]{1,100}$/.test(id))
    return `its id "${id}" must have up to 100 letters, digits, "_" and "-"`;
  if (typeof agent !== "string" || agent === "") return "it has no agent";
  if (user !== undefined && user !== scope) return `its id is not of the user "${user}"`;
  if (session !== undefined && getScope(session) !== scope) return "its session is of another user";
  if (missed !== "run-once" && missed !== "skip") return `\`missed\` must be "run-once" or "skip"`;
  if (instructions !== undefined) return "its input has a system message";
  if (input.length === 0) return "its input is empty";
  const size = JSON.stringify(input).length;
  return size > maxInputLength
    ? `its input has ${size} characters; the maximum is ${maxInputLength}`
    : undefined;
}

/** Throws if its time is over, or its times are too close to each other. */
export function assertFuture(
  { timing, timeZone, nextAt }: ScheduleData,
  { minIntervalMs }: ScheduleLimits,
): void {
  if (nextAt === undefined)
    throw new AgentError(
      "invalid_input",
      `The time of the schedule is over: ${new Date(getLastTime(timing)).toISOString()}.`,
    );
  let [last, shortestMs] = [nextAt, Number.POSITIVE_INFINITY];
  for (let count = 0; count < 10 && timing.type !== "at"; count++) {
    const next = findNext(timing, timeZone, last) ?? Number.POSITIVE_INFINITY;
    shortestMs = Math.min(shortestMs, next - last);
    last = next;
    if (next === Number.POSITIVE_INFINITY) break;
  }
  if (shortestMs >= minIntervalMs) return;
  const message = `The schedule would start a run every ${formatInterval(shortestMs)}. At most one run every ${formatInterval(minIntervalMs)} is allowed.`;
  throw new AgentError("invalid_input", message);
}

function getLastTime(timing: Timing): number {
  return timing.type === "at" ? timing.at : 0;
}

/** Returns the stored schedule if the same request made it. */
export function assertSame(stored: Schedule, data: ScheduleData): Schedule {
  const describe = ({ timing, ...schedule }: Schedule | ScheduleData) => {
    const { agent, input, timeZone, session, missed, policy, settings, tags, when } = schedule;
    // Words such as "in 20 minutes" mean another time when they are repeated.
    const { from: _, ...times } = { from: 0, ...(when === undefined ? timing : { when }) };
    const request = { agent, input, timeZone, session, missed, policy, settings, tags, times };
    return toCanonicalJson(JSON.parse(JSON.stringify(request)));
  };
  if (describe(stored) === describe(data)) return stored;
  const message = `The schedule "${stored.id}" exists with other content. Use another id, or omit it.`;
  throw new AgentError("idempotency_conflict", message);
}

/** Describes when the runs of a schedule start: "every weekday at 8:15 (Europe/Oslo)", "every 15 minutes". */
export function formatTimes({
  timing,
  timeZone,
  when,
}: Pick<Schedule, "timing" | "timeZone" | "when">): string {
  // The words of a date, such as "tomorrow", are outdated soon.
  return when !== undefined && timing.type === "cron"
    ? `${when} (${timeZone})`
    : formatTiming(timing, timeZone);
}

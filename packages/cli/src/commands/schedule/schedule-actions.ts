import { AgentError, type Store, toPlainText } from "capstan";
import {
  addSchedule,
  defaultScheduleLimits,
  formatDate,
  formatTimes,
  listSchedules,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  type Schedule,
} from "capstan/schedules";
import { formatCount } from "capstan/sessions";
import { type ExitCode, exitCodes } from "../../exit-code.ts";
import type { Io } from "../../io.ts";
import { formatJson } from "../../output/format-json.ts";
import { type Column, formatTable } from "../../output/format-table.ts";
import { escapeTerminal } from "../../terminal/escape-terminal.ts";
import { openWorkspace, type Workspace, type WorkspaceFlags } from "../../workspace/workspace.ts";

type Flags = WorkspaceFlags & {
  readonly json?: boolean;
  /** A session to continue. */
  readonly in?: string;
  readonly timeZone?: string;
  readonly skipMissed?: boolean;
};

async function withWorkspace<Value>(
  flags: Flags,
  io: Io,
  use: (workspace: Workspace) => Promise<Value>,
): Promise<Value> {
  const workspace = await openWorkspace(flags, io);
  try {
    return await use(workspace);
  } finally {
    await workspace.close();
  }
}

const getMessageText = ({ input }: Schedule) => {
  const message = input.findLast((entry) => entry.type === "user");
  return message ? escapeTerminal(toPlainText(message.content).replaceAll(/\s+/g, " ")) : "";
};

const columns: readonly Column<Schedule>[] = [
  { name: "ID", value: ({ id }) => id },
  {
    name: "NEXT",
    value: ({ nextAt, timeZone, state }) => (nextAt === undefined ? state : formatDate(nextAt, timeZone)),
  },
  { name: "TIMES", value: formatTimes, optional: true },
  { name: "MISSED", value: ({ missedCount }) => (missedCount > 0 ? `${missedCount}` : "") },
  { name: "RUNS", value: ({ runs }) => `${runs.length}${runs[0]?.error ? " (failed)" : ""}`, optional: true },
  { name: "MESSAGE", value: getMessageText, shrinks: true },
];

/** `schedule` and `schedule list`: those of the local user. */
export async function showSchedules(flags: Flags, io: Io): Promise<void> {
  await withWorkspace(flags, io, async ({ store }) => {
    const schedules = await listSchedules(store, { user: "" });
    if (flags.json) return void io.stdout.write(formatJson(schedules));
    if (schedules.length === 0) return void io.stderr.write("Nothing is scheduled.\n");
    io.stdout.write(formatTable(schedules, columns, io));
    const missed = schedules.filter(({ missedCount }) => missedCount > 0);
    for (const { id, missedCount } of missed)
      io.stderr.write(
        `Warning: ${id} has missed ${formatCount(missedCount, "time")}, because no server or worker was running.\n`,
      );
  });
}

/** `schedule add`. */
export async function addNewSchedule(
  { when, message }: { readonly when: string; readonly message: string },
  flags: Flags,
  io: Io,
): Promise<void> {
  await withWorkspace(flags, io, async ({ store, agent }) => {
    const { in: session, timeZone, skipMissed } = flags;
    if (session !== undefined && !(await store.getSession(session)))
      throw new AgentError("not_found", `Session "${session}" not found. List them with: capstan sessions`);
    const options = {
      ...{ when, input: message, agent: agent.name },
      ...(session !== undefined && { session }),
      ...(timeZone !== undefined && { timeZone }),
      ...(skipMissed && { missed: "skip" as const }),
    };
    const added = await addSchedule(options, { store, now: Date.now(), limits: defaultScheduleLimits });
    const next = formatDate(added.nextAt ?? 0, added.timeZone);
    io.stdout.write(`${added.id}\n`);
    io.stderr.write(`First: ${next}. A server or worker of this project starts it.\n`);
  });
}

/** `schedule remove`, `pause` and `resume`. */
export async function changeSchedule(
  action: "remove" | "pause" | "resume",
  shortId: string,
  { flags, io }: { readonly flags: Flags; readonly io: Io },
): Promise<void> {
  await withWorkspace(flags, io, async ({ store }) => {
    const { id } = await findByPrefix(store, shortId);
    if (action === "remove") await removeSchedule(store, id);
    else if (action === "pause") await pauseSchedule(store, id);
    else await resumeSchedule(store, id, Date.now());
    const done = { remove: "Removed", pause: "Paused", resume: "Resumed" }[action];
    io.stderr.write(`${done}: ${id}\n`);
  });
}

/** `schedule run`: executes the run here, and prints its answer. */
export async function runSchedule(shortId: string, flags: Flags, io: Io): Promise<ExitCode> {
  return withWorkspace(flags, io, async ({ store, engine }) => {
    const { id } = await findByPrefix(store, shortId);
    const runId = `run_${crypto.randomUUID()}`;
    engine.open(runId); // it belongs to this process
    await engine.schedules.run(id, { runId });
    const { status, text } = await engine.open(runId);
    io.stdout.write(`${escapeTerminal(text)}\n`);
    return status === "done" ? exitCodes.ok : exitCodes.failure;
  });
}

/** Throws `not_found`, or `invalid_input` if several schedules start so. */
async function findByPrefix(store: Store, prefix: string): Promise<Schedule> {
  const matches = (await listSchedules(store, { user: "" })).filter(
    ({ id }) => id.startsWith(prefix) || id.startsWith(`sch_${prefix}`),
  );
  const [found, ...others] = matches;
  if (!found)
    throw new AgentError("not_found", `Schedule "${prefix}" not found. List them with: capstan schedule`);
  if (others.length === 0) return found;
  throw new AgentError("invalid_input", `Several schedules start with "${prefix}". Use more characters.`);
}

import { AgentError } from "../base/errors.ts";
import { toPlainText } from "../kernel/history.ts";
import { getProvenance } from "../kernel/provenance.ts";
import { getScope } from "../kernel/session-id.ts";
import { defineTool, type Tool, type ToolCall, type ToolContext, type ToolReturn } from "../kernel/tool.ts";
import type { Store } from "../runtime/store.ts";
import { defaultScheduleLimits, formatTimes, type Schedule, type ScheduleLimits } from "./schedule.ts";
import { addSchedule, createScheduleId, listSchedules, removeSchedule } from "./stored-schedules.ts";
import { formatDateFrom } from "./timing.ts";

export type ScheduleToolOptions = {
  /** The store of the engine, which starts what is due. */
  readonly store: Store;
  /** Default: 100 schedules per user, at least a minute apart. */
  readonly limits?: Partial<ScheduleLimits>;
};

export type ScheduleToolInput = {
  readonly action?: "add" | "list" | "cancel";
  readonly when?: string;
  readonly text?: string;
  readonly id?: string;
};

/** What the message of a schedule starts with, so that a model knows that no one has just written it. */
export const scheduledPrefix = "Scheduled message: ";

const toolName = "schedule";

/**
 * The `schedule` tool: "remind me tomorrow at 9". The message arrives in the same conversation, at a time of the user's time
 * zone. Its words are the model's, so they are not the user's when they arrive: they name no target, and they are as
 * untrusted as what the model had read.
 */
export function scheduleTool({
  store,
  limits,
}: ScheduleToolOptions): Tool<ToolCall<"schedule", ScheduleToolInput>, unknown> {
  const scheduleLimits = { ...defaultScheduleLimits, ...limits };
  return defineTool({
    name: toolName,
    description:
      "Sends a message to this conversation at a later time, once or repeatedly: for reminders, and for work that you are to do then. Also lists and cancels what is scheduled.",
    input: {
      type: "object",
      properties: {
        action: { type: "string", enum: ["add", "list", "cancel"], description: "Default: add." },
        when: {
          type: "string",
          maxLength: 200,
          description:
            'When, in the local time of the user: "2026-03-01T09:00", "tomorrow at 9", "in 20 minutes", "every weekday at 8:15", "every 2 hours", or a cron expression with five fields.',
        },
        text: {
          type: "string",
          maxLength: 4000,
          description: "To add: what to say or to do then.",
        },
        id: { type: "string", maxLength: 200, description: "To cancel: the id from the list." },
      },
      additionalProperties: false,
    },
    examples: [
      { phrase: "remind me {when} to {text}" },
      { phrase: "remind me to {text} {when}" },
      { phrase: "list my reminders", input: { action: "list" } },
      { phrase: "what reminders do I have", input: { action: "list" } },
    ],
    effects: "state",
    // The id derives from the call, so a repetition after a crash finds the first schedule.
    idempotent: true,
    reads: ["private"],
    async execute({ action = "add", when, text, id }, context) {
      const scope = getScope(context.sessionId);
      if (action === "list") return formatList(await listSchedules(store, { user: scope }), context);
      if (action === "cancel") return cancel(store, { scope, id });
      return add({ when, text }, context);
    },
  });

  async function add(
    { when, text }: { readonly when: string | undefined; readonly text: string | undefined },
    { run, provenance = "operator", sessionId, idempotencyKey }: ToolContext,
  ): Promise<string> {
    if (!run) throw new AgentError("invalid_input", "A schedule can be added in a run only.");
    if (!when || !text?.trim()) {
      const message =
        'To add a schedule, `when` and `text` are needed, such as "tomorrow at 9" and "Water the plants".';
      throw new AgentError("invalid_input", message);
    }
    const { timeZone, now, agent } = run;
    const content = `${scheduledPrefix}${text.trim()}`;
    const seed = await digest(idempotencyKey);
    const options = {
      ...{ when, id: createScheduleId(getScope(sessionId), seed), session: sessionId, agent, timeZone },
      input: [{ type: "user", content, provenance }],
    } as const;
    const schedule = await addSchedule(options, { store, now, limits: scheduleLimits });
    const first = formatDateFrom(now, schedule.nextAt ?? now, timeZone);
    return `Scheduled: ${schedule.timing.type === "at" ? first : `${formatTimes(schedule)}, first ${first}`}.`;
  }
}

async function cancel(
  store: Store,
  { scope, id }: { readonly scope: string; readonly id: string | undefined },
): Promise<string> {
  // The same error for schedules of other users as for those that do not exist.
  if (id === undefined || getScope(id) !== scope)
    throw new AgentError(
      "not_found",
      `Schedule "${id ?? ""}" not found. Use an id of \`{ "action": "list" }\`.`,
    );
  await removeSchedule(store, id);
  return "Cancelled.";
}

/** Text of a model that had read something untrusted is as untrusted in the list as when it arrives. */
function formatList(schedules: readonly Schedule[], { run }: ToolContext): ToolReturn {
  const current = schedules.filter(({ state }) => state !== "ended");
  const items = current.map((schedule) => {
    const { id, input, nextAt, timeZone, state } = schedule;
    const entry = input.at(-1);
    const text = entry?.type === "user" ? toPlainText(entry.content).replace(scheduledPrefix, "") : "";
    const next =
      nextAt === undefined ? state : formatDateFrom(run?.now ?? nextAt, nextAt, run?.timeZone ?? timeZone);
    return { id, text, next, times: formatTimes(schedule) };
  });
  const entries = current.flatMap(({ input }) => input);
  const isUntrusted = entries.map(getProvenance).some((who) => who === "external" || who === "application");
  const lines = items.map(({ id, text, next }) => `- ${next}: ${text} (id ${id})`);
  return {
    content: lines.length > 0 ? lines.join("\n") : "Nothing is scheduled.",
    data: items,
    ...(isUntrusted && { reads: ["untrusted"] }),
  };
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(bytes).slice(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

import { addSchedule, createScheduleId, defaultScheduleLimits, removeSchedule } from "capstan/schedules";
import { z } from "zod";
import { toScheduleView } from "../views/schedule-view.ts";
import { defineRoute, type Route } from "./route.ts";
import { content, id } from "./schemas.ts";

const params = z.strictObject({ scheduleId: id });

const startedRun = z.object({
  runId: z.string(),
  sessionId: z.string(),
  dueAt: z.number().describe("The time for which it was scheduled."),
  startedAt: z.number(),
  missed: z.int().optional().describe("Further times for which no process was there."),
  isManual: z.literal(true).optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});

const schedule: z.ZodType = z.looseObject({
  id: z.string(),
  agent: z.string(),
  text: z.string().describe("The message, for display."),
  times: z.string().describe('When, for display: "every 15 minutes".'),
  timeZone: z.string(),
  session: z.string().optional(),
  missed: z.enum(["run-once", "skip"]),
  state: z.enum(["active", "paused", "ended"]),
  createdAt: z.number(),
  next: z.array(z.number()).describe("The next times, in milliseconds since the epoch."),
  runs: z.array(startedRun).describe("The newest runs, the latest first."),
  missedCount: z.int(),
  missedAt: z.number().optional(),
});

const newSchedule = z.strictObject({
  input: content,
  when: z
    .string()
    .min(1)
    .max(200)
    .describe(
      'A date, words such as "tomorrow at 9", "in 20 minutes" or "every weekday at 8:15", or a cron expression with five fields.',
    ),
  timeZone: z.string().max(100).optional().describe("Default: the server's."),
  agent: z.string().max(200).optional(),
  sessionId: id.optional().describe("The session that the runs continue. Default: each run has its own."),
  missed: z
    .enum(["run-once", "skip"])
    .optional()
    .describe("If no process was there: start one run late, which is the default, or none."),
});

const changed = { 200: { description: "The schedule.", schema: schedule } };

/** Every user has schedules; they are part of the user's scope, like sessions. */
export const scheduleRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/schedules",
    summary: "List your schedules.",
    responses: {
      200: { description: "The next ones first.", schema: z.object({ schedules: z.array(schedule) }) },
    },
    async handle({ caller: { scope } }, { engine }) {
      const schedules = await engine.schedules.list({ user: scope });
      return Response.json({ schedules: schedules.map((one) => toScheduleView(one, Date.now())) });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/schedules",
    summary: "Schedule a message: at a time, at intervals, or by cron.",
    body: newSchedule,
    responses: { 201: { description: "The schedule.", schema: schedule } },
    async handle({ caller, body, key }, { store, resolveAgent }) {
      const { name: agent } = await resolveAgent(body.agent);
      const now = Date.now();
      const timeZone = body.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
      const scheduleId = createScheduleId(caller.scope, key);
      const options = {
        ...{ when: body.when, id: scheduleId, agent, timeZone },
        input: [{ type: "user", content: body.input }],
        ...(body.sessionId !== undefined && { session: body.sessionId }),
        ...(body.missed && { missed: body.missed }),
      } as const;
      const added = await addSchedule(options, { store, now, limits: defaultScheduleLimits });
      return Response.json(toScheduleView(added, now), { status: 201 });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/schedules/{scheduleId}",
    summary: "Get a schedule with its newest runs.",
    params,
    responses: changed,
    handle: async ({ params: { scheduleId } }, { engine }) =>
      Response.json(toScheduleView(await engine.schedules.get(scheduleId), Date.now())),
  }),
  ...(["pause", "resume"] as const).map((action) =>
    defineRoute({
      method: "POST",
      path: `/api/schedules/{scheduleId}/${action}`,
      summary: action === "pause" ? "Pause a schedule." : "Continue a paused schedule with its next time.",
      params,
      responses: changed,
      handle: async ({ params: { scheduleId } }, { engine }) =>
        Response.json(toScheduleView(await engine.schedules[action](scheduleId), Date.now())),
    }),
  ),
  defineRoute({
    method: "POST",
    path: "/api/schedules/{scheduleId}/run",
    summary: "Start a run of a schedule now, in addition to its times.",
    params,
    startsWork: true,
    responses: {
      202: {
        description: "The run. With the same Idempotency-Key, the first one.",
        schema: z.object({ runId: z.string(), sessionId: z.string() }),
      },
    },
    async handle({ params: { scheduleId }, key }, { engine }) {
      const options = key === undefined ? {} : { runId: `run_${key}` };
      const { runId, sessionId } = await engine.schedules.run(scheduleId, options);
      return Response.json({ runId, sessionId }, { status: 202 });
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/schedules/{scheduleId}",
    summary: "Remove a schedule. Its runs are kept.",
    params,
    responses: { 204: { description: "Removed." } },
    async handle({ params: { scheduleId } }, { store }) {
      await removeSchedule(store, scheduleId);
      return new Response(null, { status: 204 });
    },
  }),
];

import { AgentError } from "capstan";
import { getScope } from "capstan/sessions";
import { z } from "zod";
import type { Quotas } from "../access/quotas.ts";
import type { Deployment } from "../deployment.ts";
import { removeSession } from "../sessions/remove-session.ts";
import { listAdminUsers, listIdleRuns, listLargestSessions } from "../views/admin-view.ts";
import { defineRoute, type Route } from "./route.ts";
import { id, limit } from "./schemas.ts";
import { quotasSchema, usageSchema } from "./usage.ts";

// Routes for admins, who manage all users. Ids of sessions and runs are named `id`: they belong to any user.

const access = "admin";
const user = z.string().max(64).describe("Empty for the local user.");
const done = { 204: { description: "Done." } };
const respondDone = () => new Response(null, { status: 204 });

const key = z.object({
  id,
  user,
  isAdmin: z.boolean(),
  quotas: quotasSchema.optional(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  isRevoked: z.boolean(),
});

const keyRoutes: readonly Route[] = [
  defineRoute({
    ...{ access, method: "GET", path: "/api/admin/keys" },
    summary: "List all keys, without their secrets.",
    responses: { 200: { description: "Revoked ones too.", schema: z.object({ keys: z.array(key) }) } },
    handle: async (_, { keys }) => Response.json({ keys: await keys.list() }),
  }),
  defineRoute({
    ...{ access, method: "POST", path: "/api/admin/keys" },
    summary: "Create a key. Once one exists, every request needs one.",
    body: z.strictObject({
      user: user.min(1),
      isAdmin: z.boolean().optional(),
      expiresAt: z.number().optional().describe("Milliseconds since the epoch."),
      quotas: quotasSchema.optional(),
    }),
    responses: {
      201: {
        description: "Only this response contains the secret.",
        schema: key.extend({ secret: z.string() }),
      },
    },
    async handle({ body: { user, isAdmin, expiresAt, quotas } }, { keys }) {
      if (expiresAt !== undefined && expiresAt <= Date.now())
        throw new AgentError("invalid_input", "`expiresAt` must be in the future.");
      const created = await keys.create({
        user,
        ...(isAdmin !== undefined && { isAdmin }),
        ...(expiresAt !== undefined && { expiresAt }),
        ...(quotas !== undefined && { quotas: quotas as Quotas }),
      });
      return Response.json(created, { status: 201 });
    },
  }),
  defineRoute({
    ...{ access, method: "DELETE", path: "/api/admin/keys/{id}" },
    summary: "Revoke a key at once.",
    params: z.strictObject({ id }),
    responses: done,
    async handle({ params }, { keys }) {
      await keys.revoke(params.id);
      return respondDone();
    },
  }),
];

const adminUser = z.intersection(
  usageSchema,
  z.object({ isAdmin: z.boolean(), keys: z.number(), ownQuotas: quotasSchema }),
);

const quotaRoutes: readonly Route[] = [
  defineRoute({
    ...{ access, method: "GET", path: "/api/admin/users" },
    summary: "List the users with their quotas and usage.",
    responses: {
      200: {
        description: "`defaultQuotas` are stored for all users.",
        schema: z.object({ users: z.array(adminUser), defaultQuotas: quotasSchema }),
      },
    },
    async handle(_, deployment) {
      const [users, defaultQuotas] = await Promise.all([
        listAdminUsers(deployment),
        deployment.quotas.stored.get(),
      ]);
      return Response.json({ users, defaultQuotas });
    },
  }),
  defineRoute({
    ...{ access, method: "PUT", path: "/api/admin/quotas" },
    summary: "Replace the stored quotas of a user, or without `user` the default of all users.",
    body: z.strictObject({ user: user.optional(), quotas: quotasSchema }),
    responses: done,
    async handle({ body: { user, quotas } }, { quotas: source }) {
      await source.stored.set(user, quotas as Quotas);
      return respondDone();
    },
  }),
];

const session = z.object({
  id,
  user,
  title: z.string().optional(),
  bytes: z.number(),
  facts: z.number(),
  updatedAt: z.number(),
});

const sessionRoutes: readonly Route[] = [
  defineRoute({
    ...{ access, method: "GET", path: "/api/admin/sessions" },
    summary: "List the largest sessions of all users.",
    query: z.strictObject({ limit }),
    responses: {
      200: {
        description: "Largest first. Only your own have a title.",
        schema: z.object({ sessions: z.array(session) }),
      },
    },
    handle: async ({ query, caller: { scope } }, deployment) =>
      Response.json({ sessions: await listLargestSessions(deployment, { ...query, scope }) }),
  }),
  defineRoute({
    ...{ access, method: "DELETE", path: "/api/admin/sessions/{id}" },
    summary: "Delete a session of any user. Its active run is cancelled first.",
    params: z.strictObject({ id }),
    responses: done,
    async handle({ params }, deployment) {
      if (!(await deployment.store.getSession(params.id)))
        throw new AgentError("not_found", `Session not found: "${params.id}".`);
      await removeSession(deployment, params.id);
      return respondDone();
    },
  }),
];

const run = z.object({
  runId: id,
  sessionId: id,
  user,
  agent: z.string(),
  state: z.enum(["stuck", "waiting"]),
  reason: z.string().optional(),
  startedAt: z.number(),
  updatedAt: z.number(),
});

const createRunRoute = (type: "cancel" | "retry", summary: string) =>
  defineRoute({
    ...{ access, method: "POST", path: `/api/admin/runs/{id}/${type}`, summary },
    params: z.strictObject({ id }),
    responses: done,
    async handle({ params }, { store, engine }) {
      if ((await store.findSession(params.id)) === undefined)
        throw new AgentError("unknown_run", `Run not found: "${params.id}".`);
      const message = { type, key: crypto.randomUUID() };
      await engine.checkMessage(params.id, message);
      await engine.send(params.id, message);
      return respondDone();
    },
  });

const idleRunRoutes: readonly Route[] = [
  defineRoute({
    ...{ access, method: "GET", path: "/api/admin/runs" },
    summary: "List the stuck and waiting runs of all users.",
    responses: { 200: { description: "Stuck ones first.", schema: z.object({ runs: z.array(run) }) } },
    handle: async (_, deployment) => Response.json({ runs: await listIdleRuns(deployment) }),
  }),
  createRunRoute("cancel", "Cancel a run of any user."),
  createRunRoute("retry", "Retry a run of any user that waits for its model, or failed because of it."),
];

const drainState = z.object({
  isDraining: z.boolean(),
  runs: z.array(z.object({ runId: id, user })).describe("The active runs of this process."),
});

function describeDrain({ drain, activeRuns }: Deployment): Response {
  const runs = activeRuns.list().map(({ runId, sessionId }) => ({ runId, user: getScope(sessionId) }));
  return Response.json({ isDraining: drain.isOn, runs });
}

const drainRoutes: readonly Route[] = [
  defineRoute({
    ...{ access, method: "GET", path: "/api/admin/drain" },
    summary: "Whether this process accepts new work, and which runs are active.",
    responses: { 200: { description: "Of this process only.", schema: drainState } },
    handle: async (_, deployment) => describeDrain(deployment),
  }),
  defineRoute({
    ...{ access, method: "PUT", path: "/api/admin/drain" },
    summary: "Stop or continue to accept new work in this process. Active runs continue.",
    body: z.strictObject({ isDraining: z.boolean() }),
    responses: { 200: { description: "Changed.", schema: drainState } },
    async handle({ body }, deployment) {
      deployment.drain.isOn = body.isDraining;
      return describeDrain(deployment);
    },
  }),
];

export const adminRoutes: readonly Route[] = [
  ...quotaRoutes,
  ...keyRoutes,
  ...sessionRoutes,
  ...idleRunRoutes,
  ...drainRoutes,
];

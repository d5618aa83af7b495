import { listApprovalRules, revokeApprovalRule, session } from "capstan/sessions";
import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";
import { id } from "./schemas.ts";

const rule = z.object({
  id,
  tool: z.string(),
  digest: z.string().describe("Covers the tool's definition: the rule is void once that changes."),
  target: z.string().optional().describe("Without it, the rule covers calls with the same arguments."),
  shown: z.string().describe("The arguments of the call that was approved."),
  runId: id,
  createdAt: z.number(),
});

/** Approval rules are added with an approval: see `POST /api/runs/{runId}/approvals/{callId}`. */
export const approvalRuleRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}/approval-rules",
    summary: "List the calls that are allowed in a session without asking.",
    params: z.strictObject({ sessionId: id }),
    responses: { 200: { description: "Oldest first.", schema: z.object({ rules: z.array(rule) }) } },
    async handle({ params: { sessionId } }, { store }) {
      await session(store, sessionId).info();
      return Response.json({ rules: await listApprovalRules(store, sessionId) });
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/sessions/{sessionId}/approval-rules/{ruleId}",
    summary: "Revoke a rule. Later calls need approval again.",
    params: z.strictObject({ sessionId: id, ruleId: id }),
    responses: { 204: { description: "Revoked." } },
    async handle({ params: { sessionId, ruleId } }, { store }) {
      await revokeApprovalRule(store, sessionId, ruleId);
      return new Response(null, { status: 204 });
    },
  }),
];

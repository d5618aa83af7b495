import { z } from "zod";
import { receiveWebhook } from "../webhooks/receive-webhook.ts";
import { defineRoute, type Route } from "./route.ts";
import { id } from "./schemas.ts";

export const webhookRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/webhooks/{name}",
    summary:
      "Start a run with a signed webhook: Standard Webhooks, GitHub or Slack, as configured. The body is the sender's JSON. A repeated delivery answers with the same run.",
    // The signature is checked instead of a key.
    access: "anyone",
    params: z.strictObject({ name: z.string().min(1).max(64) }),
    startsWork: true,
    canWait: true,
    responses: {
      202: { description: "The run is stored.", schema: z.object({ runId: id, sessionId: id }) },
      200: {
        description: "No run was started: the event is ignored, or it is Slack's request for `challenge`.",
        schema: z.object({ ignored: z.string().optional(), challenge: z.string().optional() }),
      },
    },
    async handle({ params: { name }, request, endReading }, deployment) {
      const receipt = await receiveWebhook(deployment, name, { request, endReading });
      if (receipt.type === "ignore") return Response.json({ ignored: receipt.reason });
      if (receipt.type === "challenge") return Response.json({ challenge: receipt.challenge });
      const { runId, sessionId } = receipt;
      return Response.json({ runId, sessionId }, { status: 202, headers: { "x-run-id": runId } });
    },
  }),
];

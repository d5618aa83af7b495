import { z } from "zod";
import { id } from "./schemas.ts";

type RunFields = {
  readonly runId: z.ZodType<string>;
  readonly sessionId: z.ZodType<string>;
  readonly agent: z.ZodType<string>;
  readonly state: z.ZodType<"queued" | "active" | "waiting" | "ended">;
  readonly text: z.ZodType<string | undefined>;
  readonly startedAt: z.ZodType<number>;
  readonly updatedAt: z.ZodType<number>;
  readonly newerVersion: z.ZodType<number | undefined>;
};

/** The fields of every run in a response. */
export const runFields: RunFields = {
  runId: id,
  sessionId: id,
  agent: z.string(),
  state: z
    .enum(["queued", "active", "waiting", "ended"])
    .describe("`active`: the run has work to do. `queued`: it starts when the runs before it have ended."),
  text: z.string().optional().describe("The start of the message of a queued run."),
  startedAt: z.number(),
  updatedAt: z.number(),
  newerVersion: z
    .int()
    .optional()
    .describe("The version of its facts, if this server is too old to continue the run."),
};

export const delivery: z.ZodType = z
  .object({
    webhook: z.string(),
    state: z.enum(["pending", "delivered", "failed"]),
    attempts: z.number(),
    error: z.string().optional().describe("Why the last attempt failed."),
    nextAt: z.number().optional().describe("When a pending delivery that failed is tried again."),
  })
  .describe("Of a run that a webhook started: whether its result was delivered.");

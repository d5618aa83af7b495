import { AgentError, type Json, type MessageBody } from "capstan";
import { z } from "zod";
import { json } from "./schemas.ts";

type DecisionBody = {
  readonly approved: boolean;
  readonly digest?: string | undefined;
  readonly value?: unknown;
  readonly input?: unknown;
  readonly reason?: string | undefined;
  readonly always?: true | "pattern" | undefined;
};

/** What a user decides on a pending call. */
export const decisionBody: z.ZodType<DecisionBody> = z.strictObject({
  approved: z.boolean(),
  digest: z
    .string()
    .max(200)
    .optional()
    .describe("Digest of what the user was shown; a different one is refused."),
  value: json.optional(),
  input: json
    .optional()
    .describe("Arguments to make the call with instead of the model's, which the model is told."),
  reason: z.string().max(10_000).optional(),
  always: z
    .union([z.literal(true), z.literal("pattern")])
    .optional()
    .describe("Also allow later calls in this session, as `always` or `pattern` of the pending call says."),
});

/** Returns the message of a decision. Throws `invalid_input` if changed arguments come with a denial or a rule. */
export function toDecisionMessage(callId: string, body: DecisionBody): MessageBody {
  const { approved, value, input, reason, always } = body;
  if (input !== undefined && (!approved || always)) {
    const message = "`input` changes one call: send it with `approved: true` and without `always`.";
    throw new AgentError("invalid_input", message);
  }
  if (!approved) return { type: "deny", callId, ...(reason !== undefined && { reason }) };
  return {
    ...{ type: "approve", callId },
    ...(value !== undefined && { value: value as Json }),
    ...(input !== undefined && { input: input as Json }),
  };
}

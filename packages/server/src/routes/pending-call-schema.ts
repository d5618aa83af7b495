import { z } from "zod";
import { json } from "./schemas.ts";

const scope = z.object({
  digest: z.string(),
  target: z.string().optional(),
  pattern: z.string().optional(),
});

/** A call that waits for a decision or a result. */
export const pendingCall: z.ZodObject = z.looseObject({
  callId: z.string(),
  name: z.string(),
  input: json,
  shown: z.string(),
  needs: z.enum(["approval", "answer"]),
  reason: z.string(),
  digest: z.string().optional(),
  expiresAt: z.number().optional().describe("When the request is denied unless it is decided before."),
  always: scope
    .optional()
    .describe("The calls that an approval with `always` allows for the rest of the session."),
  pattern: scope
    .optional()
    .describe('A wider set of calls: an approval with `always: "pattern"` allows these.'),
  ui: z
    .object({ kind: z.string(), props: json })
    .optional()
    .describe("What the call would do, such as a diff."),
});

/** A pending call as it would be with other arguments. */
export const callPreview: z.ZodType = pendingCall.extend({
  inputSchema: z.record(z.string(), json).optional().describe("JSON Schema of the arguments."),
});

import { z } from "zod";

/** Ids are compared as bytes. */
export const id: z.ZodType<string> = z.string().min(1).max(200);

const mediaTypePattern = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=[\w.+-]+)*$/;

function isBase64(data: string): boolean {
  return data.length > 0 && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

/** A user message: text, or parts with images and files. */
export const content: z.ZodType<string | readonly ContentPart[]> = z.union([
  z.string().min(1).max(1_000_000),
  z
    .array(
      z.union([
        z.strictObject({ type: z.literal("text"), text: z.string().max(1_000_000) }),
        z.strictObject({
          type: z.enum(["image", "file"]),
          mediaType: z.string().max(200).regex(mediaTypePattern, "must be a media type, such as `image/png`"),
          data: z.string().refine(isBase64, "must be base64"),
        }),
      ]),
    )
    .min(1)
    .max(100),
]);

type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "file"; readonly mediaType: string; readonly data: string };

/** Any JSON value; parsed bodies contain nothing else. */
export const json: z.ZodType = z.unknown().refine((value) => value !== undefined, "is required");

/** Title of a session; empty removes it. */
export const title: z.ZodType<string> = z.string().max(200);

/** Max number of list items. */
export const limit: z.ZodType<number> = z.coerce.number().int().min(1).max(1000).default(100);

/** Position after which a reader continues. */
export const after: z.ZodType<number> = z.coerce.number().int().min(0).default(0);

/** How much streamed text a reader wants. */
export const stream: z.ZodType<"all" | "final" | "per-turn"> = z
  .enum(["all", "final", "per-turn"])
  .default("all");

/** A view of the events. */
export const view: z.ZodType<string | undefined> = z
  .string()
  .max(100)
  .optional()
  .describe("A view of the events, by name: `eventViews` of `GET /api/about` lists them.");

/** The body of every error response. */
export const problem: z.ZodType = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    retryable: z.boolean(),
    retryAfterMs: z.number().optional(),
    id: z.string().optional(),
    quota: z
      .object({
        name: z.string(),
        limit: z.number(),
        window: z.string().optional(),
        resetsAt: z.string().optional(),
      })
      .optional()
      .describe("The quota that is used up, if the code is `quota_exceeded`."),
  }),
});

/** A stored fact; each type adds more fields. */
export const fact: z.ZodType = z.looseObject({
  type: z.string(),
  seq: z.int().min(1),
  at: z.number(),
  id: z.string(),
  runId: z.string(),
  sessionId: z.string(),
  agent: z.string(),
  turn: z.int().min(0),
});

/** A page of stored facts; `next` is the position to continue from. */
export const factPage: z.ZodType = z.object({ facts: z.array(fact), next: z.int().min(1).optional() });

export const usage: z.ZodType = z.looseObject({ inputTokens: z.number(), outputTokens: z.number() });

/** What a closed connection means to a client of a protocol. Without it, the run continues. */
export const onDisconnect: z.ZodType<"stop" | undefined> = z
  .literal("stop")
  .optional()
  .describe("Stop the answer when its connection is closed, also when the page is reloaded.");

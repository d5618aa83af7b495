import { z } from "zod";

/** Ids are compared as bytes, and are never longer than this. */
export const id: z.ZodType<string> = z.string().min(1).max(200);

const mediaType = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=[\w.+-]+)*$/;

function isBase64(data: string): boolean {
  return data.length > 0 && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

/** What a person can say: a text, or parts of which some are images or files. */
export const content: z.ZodType<string | readonly ContentPart[]> = z.union([
  z.string().min(1).max(1_000_000),
  z
    .array(
      z.union([
        z.strictObject({ type: z.literal("text"), text: z.string().max(1_000_000) }),
        z.strictObject({
          type: z.enum(["image", "file"]),
          mediaType: z.string().max(200).regex(mediaType, "it must be a media type, such as `image/png`"),
          data: z.string().refine(isBase64, "it must be base64"),
        }),
      ]),
    )
    .min(1)
    .max(100),
]);

type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "file"; readonly mediaType: string; readonly data: string };

/** Anything that JSON can hold: what was read from a body is nothing else. */
export const json: z.ZodType = z.unknown().refine((value) => value !== undefined, "it is missing");

/** What a session is called; an empty one takes the old one away. */
export const title: z.ZodType<string> = z.string().max(200);

/** How many of a list. */
export const most: z.ZodType<number> = z.coerce.number().int().min(1).max(1000).default(100);

/** Where a reader of events goes on. */
export const after: z.ZodType<number> = z.coerce.number().int().min(0).default(0);

/** How much of the text a reader of events wants while it is being written. */
export const stream: z.ZodType<"all" | "final" | "per-turn"> = z
  .enum(["all", "final", "per-turn"])
  .default("all");

/** The body of every answer that says what went wrong. */
export const problem: z.ZodType = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    retryable: z.boolean(),
    retryAfterMs: z.number().optional(),
    id: z.string().optional(),
  }),
});

/** A stored fact: what each type has beside this is in the vocabulary of events. */
const fact = z.looseObject({
  type: z.string(),
  seq: z.int().min(1),
  at: z.number(),
  id: z.string(),
  runId: z.string(),
  sessionId: z.string(),
  agent: z.string(),
  turn: z.int().min(0),
});

/** Stored facts, and where to go on when there are more. */
export const factPage: z.ZodType = z.object({ facts: z.array(fact), next: z.int().min(1).optional() });

/** What models were sent and have said, in tokens. */
export const usage: z.ZodType = z.looseObject({ inputTokens: z.number(), outputTokens: z.number() });

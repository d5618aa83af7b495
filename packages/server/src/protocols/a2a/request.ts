import { z } from "zod";
import { type SentPart, sentPart } from "./parts.ts";

/** Protobuf represents a missing string as an empty one. */
const optionalId = z
  .string()
  .max(200)
  .transform((text) => text || undefined)
  .optional();
const historyLength = z.int().min(0).max(2_147_483_647).optional();
const taskId = z.string().min(1, "must be a task id").max(200);

export type SendParams = {
  readonly message: {
    readonly messageId: string;
    readonly parts: readonly SentPart[];
    readonly taskId?: string | undefined;
    readonly contextId?: string | undefined;
    readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  };
  readonly configuration?:
    | {
        readonly historyLength?: number | undefined;
        readonly returnImmediately?: boolean | undefined;
        readonly taskPushNotificationConfig?: unknown;
      }
    | undefined;
};

/** Params of `SendMessage` and `SendStreamingMessage`. */
export const sendParams: z.ZodType<SendParams> = z.object({
  message: z.object({
    messageId: z.string().min(1, "must be a message id").max(200),
    role: z.literal("ROLE_USER"),
    parts: z.array(sentPart).min(1).max(100),
    taskId: optionalId,
    contextId: optionalId,
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
  configuration: z
    .object({
      historyLength,
      returnImmediately: z.boolean().optional(),
      taskPushNotificationConfig: z.unknown().optional(),
    })
    .optional(),
});

export type TaskParams = { readonly id: string; readonly historyLength?: number | undefined };

/** Params of `GetTask`, `CancelTask` and `SubscribeToTask`. */
export const taskParams: z.ZodType<TaskParams> = z.object({ id: taskId, historyLength });

export type ListParams = {
  readonly contextId?: string | undefined;
  readonly status?: string | undefined;
  readonly pageSize: number;
  readonly pageToken: string;
  readonly historyLength?: number | undefined;
  readonly statusTimestampAfter?: string | undefined;
  readonly includeArtifacts: boolean;
};

/** Params of `ListTasks`. */
export const listParams: z.ZodType<ListParams> = z.object({
  contextId: optionalId,
  status: z
    .string()
    .max(100)
    .transform((state) => (state === "TASK_STATE_UNSPECIFIED" ? undefined : state || undefined))
    .optional(),
  pageSize: z.int().min(1).max(100).default(50),
  pageToken: z.string().max(500).default(""),
  historyLength,
  statusTimestampAfter: z.iso.datetime({ offset: true }).optional(),
  includeArtifacts: z.boolean().default(false),
});

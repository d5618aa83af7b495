import type { Json } from "capstan";

/*
 * The part of A2A 1.0 used here, as the JSON form of its Protobuf messages: camel case names, enum values by name,
 * bytes as base64. A part has exactly one of `text`, `raw`, `url` and `data`, a stream frame exactly one of `task`,
 * `statusUpdate` and `artifactUpdate`.
 */

/** Protocol version; patch versions do not change the wire format. */
export const a2aVersion = "1.0";

export type A2aState =
  | "TASK_STATE_SUBMITTED"
  | "TASK_STATE_WORKING"
  | "TASK_STATE_INPUT_REQUIRED"
  | "TASK_STATE_COMPLETED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELED"
  | "TASK_STATE_REJECTED";

const last: readonly A2aState[] = [
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_REJECTED",
];

export function isTerminal(state: A2aState): boolean {
  return last.includes(state);
}

export type A2aPart = (
  | { readonly text: string }
  | { readonly raw: string }
  | { readonly url: string }
  | { readonly data: Json }
) & { readonly mediaType?: string };

type Metadata = { readonly [key: string]: Json };

/** A task is a run, its context the session. */
export type A2aPlace = { readonly taskId: string; readonly contextId: string };

export type A2aMessage = A2aPlace & {
  readonly messageId: string;
  readonly role: "ROLE_USER" | "ROLE_AGENT";
  readonly parts: readonly A2aPart[];
};

export type A2aStatus = {
  readonly state: A2aState;
  readonly timestamp: string;
  readonly message?: A2aMessage;
};

export type A2aArtifact = {
  readonly artifactId: string;
  readonly name: string;
  readonly parts: readonly A2aPart[];
};

export type A2aTask = {
  readonly id: string;
  readonly contextId: string;
  readonly status: A2aStatus;
  readonly artifacts?: readonly A2aArtifact[];
  readonly history?: readonly A2aMessage[];
  readonly metadata: Metadata;
};

export type A2aStatusUpdate = A2aPlace & { readonly status: A2aStatus; readonly metadata?: Metadata };

export type A2aArtifactUpdate = A2aPlace & {
  readonly artifact: A2aArtifact;
  /** Appends the parts; otherwise they replace the artifact. */
  readonly append: boolean;
  readonly lastChunk: boolean;
};

export type A2aFrame =
  | { readonly task: A2aTask }
  | { readonly statusUpdate: A2aStatusUpdate }
  | { readonly artifactUpdate: A2aArtifactUpdate };

/** Limits the history to the newest messages: all if undefined, no field if 0. */
export function withHistory({ history = [], ...task }: A2aTask, length: number | undefined): A2aTask {
  if (length === 0) return task;
  return { ...task, history: length === undefined ? history : history.slice(-length) };
}

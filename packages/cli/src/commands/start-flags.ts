import type { WorkspaceFlags } from "../workspace/workspace.ts";

/** Flags of `capstan` without a command. */
export type StartFlags = Omit<WorkspaceFlags, "answerSchema" | "isScript"> & {
  /** True when given without a prompt. */
  readonly print?: string | true | undefined;
  /** The positional prompt. */
  readonly prompt?: string | undefined;
  readonly json?: boolean | undefined;
  readonly streamJson?: boolean | undefined;
  readonly outputSchema?: string | undefined;
  /** Folder for generated media. */
  readonly saveMedia?: string | undefined;
  readonly continue?: boolean | undefined;
  /** True when given without an id. */
  readonly resume?: string | true | undefined;
  readonly fork?: boolean | undefined;
  /** Continues the session's failed run instead of sending a prompt. */
  readonly retry?: boolean | undefined;
  readonly sessionId?: string | undefined;
};

import type { WorkspaceFlags } from "../workspace/workspace.ts";

/** What the command line says when it names no command. */
export type StartFlags = Omit<WorkspaceFlags, "answerSchema" | "isScript"> & {
  /** True when the flag stands alone. */
  readonly print?: string | true | undefined;
  /** The prompt, when it stands without a flag. */
  readonly prompt?: string | undefined;
  readonly json?: boolean | undefined;
  readonly streamJson?: boolean | undefined;
  readonly outputSchema?: string | undefined;
  readonly continue?: boolean | undefined;
  /** True when no id is named. */
  readonly resume?: string | true | undefined;
  readonly fork?: boolean | undefined;
  readonly sessionId?: string | undefined;
};

import { isEvalSession } from "../kernel/ids.ts";
import type { ResumeOptions } from "../runtime/open-run.ts";
import type { RunInfo } from "../runtime/store.ts";

type ResumeOptionsSource = {
  readonly getResumeOptions?: (run: RunInfo) => ResumeOptions | Promise<ResumeOptions>;
};

/** Loads the options of a run that this process takes over. The run of an eval is cancelled, see `isEvalSession`. */
export async function loadResumeOptions(options: ResumeOptionsSource, info: RunInfo): Promise<ResumeOptions> {
  const resumeOptions = (await options.getResumeOptions?.(info)) ?? {};
  if (!isEvalSession(info.sessionId)) return resumeOptions;
  return { ...resumeOptions, signal: AbortSignal.abort("The process that ran the eval is gone.") };
}

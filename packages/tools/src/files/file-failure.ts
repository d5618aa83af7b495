import { AgentError, escapeInvisible } from "capstan";

const longestShown = 200;

/** A path or a pattern as an error names it: in quotes, on one line, not too long. */
export function quoted(text: string): string {
  const cut = text.length > longestShown ? `${text.slice(0, longestShown).toWellFormed()}…` : text;
  return `"${escapeInvisible(cut.toWellFormed())}"`;
}

/** What lies below the root by these names, as an error names it. */
export function shown(names: readonly string[]): string {
  return quoted(names.join("/") || ".");
}

/** What is not done for safety's sake. It is never tried again. */
export function refused(message: string, cause?: unknown): AgentError {
  return new AgentError("security", message, { retryable: false, cause });
}

/** There is no such file. */
export function notFound(message: string): AgentError {
  // A tool's own code; the table of codes has none for this.
  return new AgentError("not_found", message, { retryable: false });
}

/** The call itself is wrong, and the model can correct it. */
export function badArguments(message: string): AgentError {
  return new AgentError("bad_arguments", message);
}

/** The operating system's name for what went wrong. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

const reasons: { readonly [code: string]: string } = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota of this user is used up",
  EFBIG: "the system allows no larger file",
  EROFS: "the disk is read-only",
  EACCES: "the system gives no permission",
  EPERM: "the system gives no permission",
  EIO: "the disk failed",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  EISDIR: "it is a folder",
  ENOTEMPTY: "it is a folder",
  EBUSY: "it is in use",
};

/**
 * What the system said, without the paths of this machine, which are not for the model to know. Errors of our own pass
 * as they are.
 */
export function fileFailure(error: unknown, doing: string): unknown {
  if (error instanceof AgentError) return error;
  const code = systemCode(error);
  if (code === undefined) return error;
  if (code === "ENOENT")
    return notFound(`Cannot ${doing}: there is no such file. Use list_files to see which exist.`);
  if (code === "ELOOP")
    return refused(`Cannot ${doing}: a link is on the way. Links are not followed.`, error);
  const reason = reasons[code] ?? `the system says ${code}`;
  return new AgentError("tool_failed", `Cannot ${doing}: ${reason}.`, { retryable: false, cause: error });
}

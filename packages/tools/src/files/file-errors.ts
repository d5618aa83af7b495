import { AgentError, escapeInvisible } from "capstan";

const maxQuotedLength = 200;

/** Quotes a path or pattern for an error message: on one line and truncated. */
export function quotePath(text: string): string {
  const truncated =
    text.length > maxQuotedLength ? `${text.slice(0, maxQuotedLength).toWellFormed()}…` : text;
  return `"${escapeInvisible(truncated.toWellFormed())}"`;
}

/** Quotes the path that these names form below the root. */
export function quoteNames(names: readonly string[]): string {
  return quotePath(names.join("/") || ".");
}

/** A call that is refused for safety. Never retried. */
export function createSecurityError(message: string, cause?: unknown): AgentError {
  return new AgentError("security", message, { retryable: false, cause });
}

export function createNotFoundError(message: string): AgentError {
  // A code for tools only; it is not in the table of error codes.
  return new AgentError("not_found", message, { retryable: false });
}

/** An invalid call that the model can correct. */
export function createArgumentError(message: string): AgentError {
  return new AgentError("bad_arguments", message);
}

/** Returns the error code of the operating system, such as "ENOENT". */
export function getSystemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

const reasons: { readonly [code: string]: string } = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota of this user is exceeded",
  EFBIG: "the file would exceed the system's size limit",
  EROFS: "the disk is read-only",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EIO: "I/O error",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  EISDIR: "it is a folder",
  ENOTEMPTY: "it is a folder",
  EBUSY: "it is in use",
};

/** Converts a system error to a message without absolute paths, which the model must not see. Other errors pass through. */
export function toFileError(error: unknown, action: string): unknown {
  if (error instanceof AgentError) return error;
  const code = getSystemCode(error);
  if (code === undefined) return error;
  if (code === "ENOENT")
    return createNotFoundError(`Cannot ${action}: file not found. Use list_files to see which files exist.`);
  if (code === "ELOOP")
    return createSecurityError(`Cannot ${action}: the path contains a link. Links are not followed.`, error);
  const reason = reasons[code] ?? `system error ${code}`;
  return new AgentError("tool_failed", `Cannot ${action}: ${reason}.`, { retryable: false, cause: error });
}

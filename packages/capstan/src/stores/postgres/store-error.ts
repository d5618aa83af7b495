import { AgentError, describeThrown, type ErrorCode, truncateMessage } from "../../base/errors.ts";

type ErrorReason = {
  readonly codes?: RegExp;
  readonly messages?: RegExp;
  readonly message: string;
  /** Default: `store_failed`. */
  readonly code?: ErrorCode;
  /** Whether the caller can try again later without a change. */
  readonly retryable: boolean;
  /** Whether the store retries immediately. */
  readonly isTransient?: true;
};

// Matched by SQLSTATE or socket error code; the first match counts. pg has no codes for its own errors.
const errorReasons: readonly ErrorReason[] = [
  {
    codes: /^(40001|40P01)$/,
    message: "other transactions write to the same rows: try again",
    retryable: true,
    isTransient: true,
  },
  {
    codes: /^(08...|57P0[123]|ECONNRESET|EPIPE)$/,
    messages: /^(Connection terminated|Client has encountered a connection error|Connection ended)/,
    message: "the connection was lost, and the write was stored completely or not at all: try again",
    retryable: true,
    isTransient: true,
  },
  {
    codes: /^(ECONNREFUSED|ENOENT|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EAI_AGAIN)$/,
    message: "the server cannot be reached: check that it runs, and the address of the pool",
    retryable: true,
    isTransient: true,
  },
  {
    codes: /^53300$/,
    message: "the server has no free connections: raise its limit, or make the pools smaller",
    retryable: true,
    isTransient: true,
  },
  {
    codes: /^(53100|ENOSPC)$/,
    code: "store_full",
    message: "the disk of the server is full: free some space",
    retryable: true,
  },
  { codes: /^53...$/, message: "the server is out of resources: check its log", retryable: true },
  {
    codes: /^42501$/,
    message:
      "the database user lacks permissions: grant CREATE on the database, or USAGE on the schema and ALL on its objects",
    retryable: false,
  },
  {
    codes: /^(28...|3D000)$/,
    message: "the server rejects the user, password or database of the pool: check them",
    retryable: false,
  },
  {
    codes: /^25006$/,
    message: "the server is read-only, as a standby is: connect the pool to the primary",
    retryable: true,
  },
  {
    codes: /^(55P03|57014)$/,
    code: "store_busy",
    message:
      "the statement timed out, probably because another transaction locks the same rows: check for one that hangs",
    retryable: true,
  },
  { codes: /^54...$/, message: "an id or a fact is too large: shorten it", retryable: false },
  {
    codes: /^(42P01|42883|3F000)$/,
    message: "tables or functions of its schema are missing: open the store again to create them",
    retryable: false,
  },
  {
    messages: /after calling end on the pool/,
    message: "the pool has ended: open a store on a new pool, and close the store before ending its pool",
    retryable: false,
  },
  {
    messages: /^timeout exceeded when trying to connect/,
    message:
      "no connection of the pool became free in time: make the pool larger, or send fewer requests at once",
    retryable: true,
  },
];

/** Whether a retry may succeed immediately, on another connection if necessary. */
export function isTransient(thrown: unknown): boolean {
  return findReason(thrown)?.isTransient === true;
}

/** Whether the error concerns the data of one call, so that other calls of the batch can succeed. */
export function isContentError(thrown: unknown): boolean {
  return /^(2[123]|54|55|57014)/.test(getErrorCode(thrown));
}

/** Converts an error of the database. `action` completes "could not". */
export function toStoreError(action: string, cause: unknown): AgentError {
  if (cause instanceof AgentError) return cause;
  const code = getErrorCode(cause);
  const reason = findReason(cause);
  const detail = truncateMessage(
    [code, describeThrown(cause, "store_failed").message].filter(Boolean).join(" "),
  );
  const message = reason
    ? `The Postgres store could not ${action}: ${reason.message} (${detail}).`
    : `The Postgres store could not ${action}: ${detail}.`;
  return new AgentError(reason?.code ?? "store_failed", message, {
    cause,
    retryable: reason?.retryable ?? true,
  });
}

function findReason(thrown: unknown): ErrorReason | undefined {
  const code = getErrorCode(thrown);
  const { message } = describeThrown(thrown, "store_failed");
  return errorReasons.find(({ codes, messages }) => codes?.test(code) || messages?.test(message));
}

function getErrorCode(thrown: unknown): string {
  const { code } = describeThrown(thrown, "store_failed");
  return code === "store_failed" ? "" : code;
}

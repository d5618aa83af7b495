import { AgentError, type ErrorCode } from "../../base/errors.ts";

type ErrorReason = {
  readonly code?: ErrorCode;
  readonly is: string;
  readonly hint: string;
  readonly retryable: boolean;
};

const busyCode = 5;

// By SQLite's primary result code.
const errorReasons: Readonly<Record<number, ErrorReason>> = {
  [busyCode]: {
    code: "store_busy",
    is: "is locked by another process",
    hint: "wait until it is done, then try again",
    retryable: true,
  },
  8: { is: "is read-only", hint: "allow writing to the file and its folder", retryable: false },
  10: {
    is: "could not be read or written",
    hint: "check the disk, then try again; acknowledged writes are stored",
    retryable: true,
  },
  11: {
    is: "is damaged",
    hint: "restore a backup, or recover readable data with `sqlite3 FILE .recover`",
    retryable: false,
  },
  13: {
    code: "store_full",
    is: "cannot grow because the disk is full",
    hint: "free some space, then try again; stored data can still be read",
    retryable: true,
  },
  14: {
    is: "cannot be opened",
    hint: "check that its folder exists and that both are writable",
    retryable: false,
  },
  18: { is: "cannot store a value this large", hint: "store less at once", retryable: false },
  26: { is: "is not a SQLite database", hint: "use another file", retryable: false },
};

/** Converts a SQLite error into one that names the file, the reason and what to do. */
export function toStoreError(file: string, thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const reason = errorReasons[getResultCode(thrown)];
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  const message = reason
    ? `The store "${file}" ${reason.is} (${detail}): ${reason.hint}.`
    : `The store "${file}" failed: ${detail}.`;
  return new AgentError(reason?.code ?? "store_failed", message, {
    cause: thrown,
    ...(reason && pickRetryable(reason)),
  });
}

/** Whether another connection holds the lock; a retry may succeed. */
export function isBusy(thrown: unknown): boolean {
  return getResultCode(thrown) === busyCode;
}

function getResultCode(thrown: unknown): number {
  const code = thrown instanceof Error && "errcode" in thrown ? thrown.errcode : undefined;
  return typeof code === "number" ? code & 0xff : 0;
}

const pickRetryable = ({ retryable }: ErrorReason) => ({ retryable });

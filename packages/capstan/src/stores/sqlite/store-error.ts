import { AgentError, type ErrorCode } from "../../errors.ts";

type Reason = {
  readonly code?: ErrorCode;
  readonly is: string;
  readonly hint: string;
  readonly retryable: boolean;
};

const busyCode = 5;

// By SQLite's primary result code.
const reasons: Readonly<Record<number, Reason>> = {
  [busyCode]: {
    code: "store_busy",
    is: "is locked by another process",
    hint: "wait until that one is done, then try again",
    retryable: true,
  },
  8: { is: "may only be read", hint: "allow writing to the file and to its folder", retryable: false },
  10: {
    is: "could not be read or written by the disk",
    hint: "look at the disk, then try again: what was acknowledged is stored",
    retryable: true,
  },
  11: {
    is: "is damaged",
    hint: "restore a backup of it, or save what is readable with `sqlite3 FILE .recover`",
    retryable: false,
  },
  13: {
    code: "store_full",
    is: "has no room to grow: the disk is full",
    hint: "free some space, then try again; what is stored can still be read",
    retryable: true,
  },
  14: {
    is: "cannot be opened",
    hint: "see that its folder exists and that file and folder may be written",
    retryable: false,
  },
  18: { is: "cannot keep anything this large", hint: "store less at once", retryable: false },
  26: { is: "is not a SQLite database", hint: "name another file", retryable: false },
};

/** Whatever went wrong with a file, as an error that names the file, the reason and what to do. */
export function sqliteError(file: string, thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const reason = reasons[resultCode(thrown)];
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  const message = reason
    ? `The store "${file}" ${reason.is} (${words}): ${reason.hint}.`
    : `The store "${file}" failed: ${words}.`;
  return new AgentError(reason?.code ?? "store_failed", message, {
    cause: thrown,
    ...(reason && pick(reason)),
  });
}

/** Another connection is in the way; it passes. */
export function isBusy(thrown: unknown): boolean {
  return resultCode(thrown) === busyCode;
}

function resultCode(thrown: unknown): number {
  const code = thrown instanceof Error && "errcode" in thrown ? thrown.errcode : undefined;
  return typeof code === "number" ? code & 0xff : 0;
}

const pick = ({ retryable }: Reason) => ({ retryable });

import { AgentError, describeThrown, type ErrorCode, truncateMessage } from "../../errors.ts";

type Trouble = {
  readonly codes?: RegExp;
  readonly messages?: RegExp;
  readonly what: string;
  /** The name of it; `store_failed` when left out. */
  readonly is?: ErrorCode;
  /** Whether somebody may try again later without a change. */
  readonly retryable: boolean;
  /** Whether the store itself tries again, at once. */
  readonly passing?: true;
};

// By SQLSTATE, or by the code of a socket; the first that fits counts. pg has no codes for its own errors.
const troubles: readonly Trouble[] = [
  {
    codes: /^(40001|40P01)$/,
    what: "others write to the same rows: try again",
    retryable: true,
    passing: true,
  },
  {
    codes: /^(08...|57P0[123]|ECONNRESET|EPIPE)$/,
    messages: /^(Connection terminated|Client has encountered a connection error|Connection ended)/,
    what: "the connection was lost, and what was under way is stored whole or not at all: try again",
    retryable: true,
    passing: true,
  },
  {
    codes: /^(ECONNREFUSED|ENOENT|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EAI_AGAIN)$/,
    what: "the server cannot be reached: check that it runs, and the pool's address",
    retryable: true,
    passing: true,
  },
  {
    codes: /^53300$/,
    what: "the server has no connection left: give it more, or its pools fewer",
    retryable: true,
    passing: true,
  },
  {
    codes: /^(53100|ENOSPC)$/,
    is: "store_full",
    what: "the server's disk is full: make room on it",
    retryable: true,
  },
  { codes: /^53...$/, what: "the server is out of something: look into its log", retryable: true },
  {
    codes: /^42501$/,
    what: "the database user lacks a right: grant it CREATE on the database, or USAGE on the schema and all on what is in it",
    retryable: false,
  },
  {
    codes: /^(28...|3D000)$/,
    what: "the server refuses the pool's user, password or database: check them",
    retryable: false,
  },
  {
    codes: /^25006$/,
    what: "the server only reads, as a standby does: point the pool at the primary one",
    retryable: true,
  },
  {
    codes: /^(55P03|57014)$/,
    is: "store_busy",
    what: "it took too long, most likely because another transaction holds the same rows: look for one that hangs",
    retryable: true,
  },
  { codes: /^54...$/, what: "an id or a fact is too large: shorten it", retryable: false },
  {
    codes: /^(42P01|42883|3F000)$/,
    what: "tables or functions of its schema are gone: open the store anew, which makes them",
    retryable: false,
  },
  {
    messages: /after calling end on the pool/,
    what: "the pool has been ended: open a store on a new one, and end the pool after the store is closed",
    retryable: false,
  },
  {
    messages: /^timeout exceeded when trying to connect/,
    what: "no connection of the pool became free in time: make the pool larger, or ask for less at once",
    retryable: true,
  },
];

/** Whether the same call may succeed at once, on another connection if need be. */
export function isPassing(thrown: unknown): boolean {
  return troubleOf(thrown)?.passing === true;
}

/** Whether it is about what was sent, so that other calls need not fail with it. */
export function isAboutContent(thrown: unknown): boolean {
  return /^(2[123]|54|55|57014)/.test(codeOf(thrown));
}

/** What went wrong, as the rest of the world hears of it. `what` completes "could not". */
export function storeFailure(what: string, cause: unknown): AgentError {
  if (cause instanceof AgentError) return cause;
  const code = codeOf(cause);
  const trouble = troubleOf(cause);
  const said = truncateMessage(
    [code, describeThrown(cause, "store_failed").message].filter(Boolean).join(" "),
  );
  const message = trouble
    ? `The Postgres store could not ${what}: ${trouble.what} (${said}).`
    : `The Postgres store could not ${what}: ${said}.`;
  return new AgentError(trouble?.is ?? "store_failed", message, {
    cause,
    retryable: trouble?.retryable ?? true,
  });
}

function troubleOf(thrown: unknown): Trouble | undefined {
  const code = codeOf(thrown);
  const { message } = describeThrown(thrown, "store_failed");
  return troubles.find(({ codes, messages }) => codes?.test(code) || messages?.test(message));
}

function codeOf(thrown: unknown): string {
  const { code } = describeThrown(thrown, "store_failed");
  return code === "store_failed" ? "" : code;
}

import { AgentError, type ErrorCode, errorCodes } from "capstan";
import type { Caller } from "../access/caller.ts";
import { isForClients } from "../problem.ts";

type Shown = { readonly code: string; readonly message: string };

/** What a provider said of its own: it may tell of keys, accounts and addresses that are the server's. */
const providers: readonly string[] = ["model_auth", "model_rejected", "model_not_found"];

/** Why a run failed, for whoever asked: the words of a provider or of the inside are for those who look after the server. */
export function shownError({ code, message }: Shown, { isAdmin }: Pick<Caller, "isAdmin">): Shown {
  if (isAdmin) return { code, message };
  const status = Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].status : 500;
  if ((status < 500 || status === 503) && !providers.includes(code)) return { code, message };
  return {
    code,
    message: code.startsWith("model_")
      ? "The model behind this agent could not answer. The log of the server says why."
      : "Something went wrong inside of the server. Its log says what.",
  };
}

/** What was thrown while a run was on, as what may be shown of it. `report` keeps the rest for the log. */
export function shownThrown(thrown: unknown, report: (thrown: unknown) => string): AgentError {
  if (isForClients(thrown)) return thrown;
  return new AgentError(
    "internal",
    `Something went wrong inside of the server. Its log says what, under ${report(thrown)}.`,
  );
}

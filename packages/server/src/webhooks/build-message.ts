import type { ResultData, RunInfo } from "capstan";
import type { StoredDelivery } from "./delivery-records.ts";
import type { SignedMessage } from "./signature.ts";
import type { WebhookEvent } from "./webhook.ts";

/** An event of a run that the receiver is to know. */
export type RunNews = {
  readonly type: WebhookEvent;
  /** The same for every attempt, so that the receiver can recognize a repeated message. */
  readonly id: string;
  /** The position of the wait that it reports. */
  readonly seq?: number;
  readonly run: RunInfo;
  readonly result: Pick<ResultData, "status" | "text" | "output" | "pending" | "error" | "usage" | "cost">;
};

/** Builds the message to a URL. Every attempt sends the same bytes. */
export function buildMessage(
  { type, id, run, result }: RunNews,
  { webhook, requestId }: Pick<StoredDelivery, "webhook" | "requestId">,
): SignedMessage {
  const { runId, sessionId, agent, updatedAt } = run;
  const { status, text, output, pending, error, usage, cost } = result;
  const data = {
    ...{ webhook, requestId, runId, sessionId, agent, status, text },
    ...(output !== undefined && { output }),
    ...(error && { error: { code: error.code } }),
    ...(type === "run.waiting" && {
      pending: pending.map(({ callId, name, needs }) => ({ callId, name, needs })),
    }),
    ...{ usage, cost },
  };
  return { id, body: JSON.stringify({ type, timestamp: new Date(updatedAt).toISOString(), data }) };
}

/** Slack shortens longer texts. */
const maxSlackLength = 39_000;

/** Builds the text of an answer in Slack: escaped, so that mentions in it notify no user and links show their address. */
export function buildSlackText({ type, result: { status, text, error } }: RunNews): string {
  const shown =
    type === "run.waiting"
      ? "This needs an approval or an answer before it can continue."
      : status === "failed" || status === "cancelled"
        ? `This could not be answered: ${error?.code ?? status}.`
        : text;
  const cut = shown.length > maxSlackLength ? `${shown.slice(0, maxSlackLength).toWellFormed()}…` : shown;
  return cut.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

import type { FoundRun, Store } from "capstan";
import type { LocalEngine } from "capstan/engines/local";
import { findQueuedRun } from "capstan/sessions";
import { hideResultErrors } from "../protocols/hide-errors.ts";
import { findLastWait } from "../runs/threads.ts";
import type { RunNews } from "./build-message.ts";
import {
  changeDelivery,
  endDelivery,
  findPending,
  hasOutcome,
  listDeliveries,
  type StoredDelivery,
} from "./delivery-records.ts";
import { createPostMessage, defaultPostMs, type PostMessage } from "./post-message.ts";
import type { ConfiguredWebhook } from "./webhook.ts";

/** Sends the results of runs that webhooks have started, at least once each. */
export interface Deliverer {
  /** Sends the result of a run if it is to be sent and the run has ended. */
  wake(runId: string): void;
  /** Resolves when no message is being sent. Gives up messages that take longer than five seconds; they are sent again. */
  close(): Promise<void>;
}

export type DelivererOptions = {
  readonly store: Store;
  readonly engine: Pick<LocalEngine, "getResult">;
  readonly webhooks: ReadonlyMap<string, ConfiguredWebhook>;
  readonly shutdownSignal: AbortSignal;
  report(thrown: unknown): unknown;
  readonly now?: () => number;
  /** How often to look for runs that ended in other processes. */
  readonly pollMs?: number;
};

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
/** Waits after a failed attempt, about 16 hours in total. Then the delivery has failed. */
export const retryDelaysMs: readonly number[] = [
  ...[5 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs],
  ...[hourMs, 2 * hourMs, 4 * hourMs, 8 * hourMs],
];
const maxParallel = 8;
/** What is being sent when the server shuts down gets this long. */
const graceMs = 5 * secondMs;
/** Longer than an attempt takes, so that no other process tries at the same time. */
const claimMarginMs = secondMs;
/** A start that failed leaves a delivery without a run; the sender repeats such a start. */
const maxOrphanMs = hourMs;

/** Starts to send results, also those that another process has left. Returns undefined if no webhook has a reply. */
export function startDeliverer(options: DelivererOptions): Deliverer | undefined {
  if (![...options.webhooks.values()].some(({ reply }) => reply)) return undefined;
  const { store, webhooks, shutdownSignal, report, now = Date.now, pollMs = secondMs } = options;
  const attempts = new Map<string, Promise<void>>();
  /** Runs that have not ended are checked the less often, the longer they take. */
  const checkAt = new Map<string, number>();
  const stop = new AbortController();
  const attempt = createAttempt({ ...options, now, stopSignal: stop.signal });
  let nextPoll: ReturnType<typeof setTimeout> | undefined;

  function attemptOnce(delivery: StoredDelivery): Promise<void> {
    const { runId } = delivery;
    const running = attempts.get(runId);
    if (running) return running;
    const mine = attempt(delivery)
      .then((state) => {
        const waitMs = Math.min(Math.max(pollMs, (now() - delivery.createdAt) / 10), minuteMs);
        if (state === "unfinished") checkAt.set(runId, now() + waitMs);
        else checkAt.delete(runId);
      })
      .catch((thrown: unknown) => void report(thrown))
      .finally(() => attempts.delete(runId));
    attempts.set(runId, mine);
    return mine;
  }

  async function poll(): Promise<void> {
    const listed = (await listDeliveries(store)).filter(({ webhook }) => webhooks.get(webhook)?.reply);
    const open = new Set(listed.map(({ runId }) => runId));
    for (const runId of checkAt.keys()) if (!open.has(runId)) checkAt.delete(runId);
    const due = listed.filter(({ runId, nextAt }) => nextAt <= now() && (checkAt.get(runId) ?? 0) <= now());
    const queue = due.values();
    const work = async () => {
      for (const delivery of queue) if (!shutdownSignal.aborted) await attemptOnce(delivery);
    };
    await Promise.all(Array.from({ length: maxParallel }, work));
  }
  function schedule(): void {
    if (shutdownSignal.aborted) return;
    nextPoll = setTimeout(() => void pollAndSchedule(), pollMs).unref();
  }
  async function pollAndSchedule(): Promise<void> {
    await poll().catch(report);
    schedule();
  }
  async function tryNow(runId: string): Promise<void> {
    const delivery = await findPending(store, runId);
    if (delivery && webhooks.get(delivery.webhook)?.reply) await attemptOnce(delivery);
  }

  shutdownSignal.addEventListener("abort", () => clearTimeout(nextPoll), { once: true });
  void pollAndSchedule();
  return {
    wake: (runId) => void tryNow(runId).catch(report),
    async close() {
      const abort = setTimeout(() => stop.abort(), graceMs).unref();
      await Promise.all(attempts.values());
      clearTimeout(abort);
    },
  };
}

type AttemptOptions = DelivererOptions & { readonly now: () => number; readonly stopSignal: AbortSignal };
/** `unfinished`: the run has nothing to report yet. */
type AttemptState = "unfinished" | "attempted";

/** Creates a function that sends one pending delivery if its run has ended, or waits. */
function createAttempt(options: AttemptOptions): (delivery: StoredDelivery) => Promise<AttemptState> {
  const { store, webhooks, now, stopSignal } = options;
  const senders = new Map<string, PostMessage>();

  return async (delivery) => {
    const { webhook, runId } = delivery;
    const reply = webhooks.get(webhook)?.reply;
    const run = await store.findRun(runId);
    if (!run) await removeOrphan(options, delivery);
    const news = reply && run && (await findNews(options, run, delivery));
    if (!reply || !news) return "unfinished";
    const isOver = news === "nothing" || (await hasOutcome(store, run));
    if (isOver) {
      await endDelivery(store, delivery);
      return "attempted";
    }
    const isRepeated = delivery.messageId === news.id;
    if (isRepeated && delivery.nextAt > now()) return "attempted";
    const { totalMs = defaultPostMs } = reply.guard;
    const claimMs = totalMs === "unlimited" ? hourMs : totalMs + claimMarginMs;
    const attempts = (isRepeated ? delivery.attempts : 0) + 1;
    const claim = { messageId: news.id, attempts, nextAt: now() + claimMs };
    const claimed = await changeDelivery(store, delivery, claim);
    if (!claimed) return "attempted";
    const send = senders.get(webhook) ?? createPostMessage(reply, now);
    senders.set(webhook, send);
    const outcome = await send(news, claimed, stopSignal);
    await settleDelivery(options, { claimed, news, outcome });
    return "attempted";
  };
}

/** Returns what the receiver is to know now; `nothing` if the run has ended and it wants to know of waits only. */
async function findNews(
  { store, engine, webhooks }: AttemptOptions,
  { firstSeq: _, ...run }: FoundRun,
  { webhook, announcedSeq = 0 }: StoredDelivery,
): Promise<RunNews | "nothing" | undefined> {
  const { events = [] } = webhooks.get(webhook)?.reply ?? {};
  const id = `msg_${run.runId}`;
  const loadResult = async () => hideResultErrors(await engine.getResult(run.runId));
  if (run.state === "ended") {
    if (!events.includes("run.ended")) return "nothing";
    return { type: "run.ended", id, run, result: await loadResult() };
  }
  if (run.state !== "waiting" || !events.includes("run.waiting")) return undefined;
  const seq = await findLastWait(store, run);
  if (seq <= announcedSeq) return undefined;
  return { type: "run.waiting", id: `${id}_${seq}`, seq, run, result: await loadResult() };
}

type Settlement = {
  readonly claimed: StoredDelivery;
  readonly news: RunNews;
  readonly outcome: Awaited<ReturnType<PostMessage>>;
};

/** Stores the outcome of an attempt: the end of the delivery, or when to try again. */
async function settleDelivery(
  { store, now, report, stopSignal }: AttemptOptions,
  { claimed, news, outcome }: Settlement,
): Promise<void> {
  const { webhook, attempts, runId } = claimed;
  const isFailed = outcome.type === "failed";
  if (isFailed && stopSignal.aborted) {
    await changeDelivery(store, claimed, { attempts: attempts - 1, nextAt: 0 });
    return;
  }
  const delayMs = retryDelaysMs[attempts - 1];
  if (isFailed && !outcome.isPermanent && delayMs !== undefined) {
    const { error, retryAfterMs = 0 } = outcome;
    // Receivers that were down get their messages back at different times.
    const waitMs = Math.max(delayMs * (1 + Math.random() / 4), Math.min(retryAfterMs, hourMs));
    await changeDelivery(store, claimed, { nextAt: now() + waitMs, error });
    return;
  }
  if (isFailed)
    report(
      new Error(`Webhook "${webhook}": ${news.type} of run "${runId}" was not delivered. ${outcome.error}`),
    );
  if (news.type === "run.waiting") {
    const { seq: announcedSeq = 0 } = news;
    await changeDelivery(store, claimed, {
      ...{ announcedSeq, nextAt: 0 },
      ...(isFailed && { error: outcome.error }),
    });
    return;
  }
  await endDelivery(store, claimed, {
    ...{ webhook, attempts, state: isFailed ? "failed" : "delivered" },
    ...(isFailed && { error: outcome.error }),
  });
}

async function removeOrphan({ store, now }: AttemptOptions, delivery: StoredDelivery): Promise<void> {
  if (now() - delivery.createdAt < maxOrphanMs) return;
  if (!(await findQueuedRun(store, delivery.runId))) await endDelivery(store, delivery);
}

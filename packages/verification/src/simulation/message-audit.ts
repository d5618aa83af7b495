import type { RunMessage } from "capstan";
import type { UnplacedFact } from "capstan/internal/verification";
import type { AuditedLease } from "./lease-audit.ts";
import type { World } from "./world.ts";

type AuditedMessage = {
  readonly runId: string;
  readonly key: string;
  readonly type: RunMessage["type"];
  /** Position among all messages of the world. */
  readonly position: number;
  acknowledgements: number;
};

/** Tracks messages from the store to the facts that acknowledge them. */
export interface MessageAudit {
  /** Number of messages so far. */
  count(): number;
  onStore(runId: string, message: RunMessage): void;
  onAcknowledge(runId: string, key: string): void;
  /** The worker that runs the run read these messages. */
  onDeliver(worker: string, runId: string, messages: readonly RunMessage[]): void;
  onDeliveryFailure(worker: string, runId: string): void;
  /** Called before a write: a worker must not end a run while it has unprocessed messages. */
  beforeWrite(worker: string, facts: readonly UnplacedFact[], heard: readonly string[]): void;
  onWrite(lease: AuditedLease | undefined, facts: readonly UnplacedFact[], heard: readonly string[]): void;
}

export function createMessageAudit(world: World): MessageAudit {
  const messages = new Map<string, AuditedMessage>();
  /** Keys of messages that a worker has read and not acknowledged, by worker and run. */
  const undelivered = new Map<string, Set<string>>();
  const isUnacknowledged = (runId: string, key: string) =>
    messages.get(`${runId} ${key}`)?.acknowledgements === 0;

  return {
    count: () => messages.size,
    onStore(runId, { key, type }) {
      const id = `${runId} ${key}`;
      if (messages.has(id)) return;
      messages.set(id, { runId, key, type, position: messages.size, acknowledgements: 0 });
    },
    onAcknowledge(runId, key) {
      if (!messages.has(`${runId} ${key}`))
        world.reportViolation("an acknowledged message is stored", `"${key}" to ${runId}`);
    },
    onDeliver(worker, runId, told) {
      const id = `${worker} ${runId}`;
      undelivered.set(id, new Set([...(undelivered.get(id) ?? []), ...told.map(({ key }) => key)]));
    },
    onDeliveryFailure(worker, runId) {
      const waiting = [...messages.values()].filter((message) => message.runId === runId);
      const id = `${worker} ${runId}`;
      undelivered.set(id, new Set([...(undelivered.get(id) ?? []), ...waiting.map(({ key }) => key)]));
    },
    beforeWrite(worker, facts, heard) {
      const runId = facts[0]?.runId ?? "";
      if (!facts.some((fact) => fact.type === "done")) return;
      for (const key of undelivered.get(`${worker} ${runId}`) ?? [])
        if (!heard.includes(key) && isUnacknowledged(runId, key))
          world.reportViolation("a run does not end with unprocessed messages", `"${key}" to ${runId}`);
    },
    onWrite(lease, facts, heard) {
      const runId = facts[0]?.runId ?? "";
      for (const key of heard) {
        const message = messages.get(`${runId} ${key}`);
        if (!message) world.reportViolation("only sent messages are acknowledged", `"${key}" to ${runId}`);
        else if (++message.acknowledgements > 1)
          world.reportViolation("a message is delivered once", `"${key}" to ${runId}`);
      }
      const isWork = facts.some((fact) => !isArrival(fact));
      if (!lease || lease.hasWritten || !isWork) return;
      lease.hasWritten = true;
      for (const { position, key, acknowledgements: times, ...message } of messages.values())
        if (message.runId === runId && times === 0 && position < lease.messagesBefore)
          world.reportViolation("a takeover delivers pending messages first", `"${key}" to ${runId}`);
    },
  };
}

/** Whether a process records this when it starts to execute a run, before other messages are delivered. */
function isArrival(fact: UnplacedFact): boolean {
  if (fact.type === "warning") return fact.code === "resumes_alone";
  return ["recovered", "solo_end", "woken", "run_start", "retried"].includes(fact.type);
}

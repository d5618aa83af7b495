import type { UnplacedFact } from "../event.ts";
import type { RunMessage } from "../store.ts";
import type { AuditedLease } from "./lease-audit.ts";
import type { World } from "./world.ts";

type AuditedMessage = {
  readonly runId: string;
  readonly key: string;
  readonly type: RunMessage["type"];
  /** Its place among all messages of the world. */
  readonly place: number;
  heard: number;
};

/** Follows what runs are told, from the store to the facts that say it. */
export interface MessageAudit {
  /** Messages so far. */
  count(): number;
  stored(runId: string, message: RunMessage): void;
  acknowledged(runId: string, key: string): void;
  /** A worker that is at the run looked for messages, and got these, or none because the store failed. */
  delivered(worker: string, runId: string, messages: readonly RunMessage[]): void;
  missed(worker: string, runId: string): void;
  /** A worker asks the store to write: it must not end a run over the head of a message that it has. */
  writing(worker: string, facts: readonly UnplacedFact[], heard: readonly string[]): void;
  wrote(lease: AuditedLease | undefined, facts: readonly UnplacedFact[], heard: readonly string[]): void;
}

export function messageAudit(world: World): MessageAudit {
  const messages = new Map<string, AuditedMessage>();
  /** By worker and run: what it has and has not said yet. */
  const inHand = new Map<string, Set<string>>();
  const isUnheard = (runId: string, key: string) => messages.get(`${runId} ${key}`)?.heard === 0;

  return {
    count: () => messages.size,
    stored(runId, { key, type }) {
      const id = `${runId} ${key}`;
      if (messages.has(id)) return;
      messages.set(id, { runId, key, type, place: messages.size, heard: 0 });
    },
    acknowledged(runId, key) {
      if (!messages.has(`${runId} ${key}`))
        world.violate("what is acknowledged is stored", `"${key}" to ${runId}`);
    },
    delivered(worker, runId, told) {
      const id = `${worker} ${runId}`;
      inHand.set(id, new Set([...(inHand.get(id) ?? []), ...told.map(({ key }) => key)]));
    },
    missed(worker, runId) {
      const waiting = [...messages.values()].filter((message) => message.runId === runId);
      const id = `${worker} ${runId}`;
      inHand.set(id, new Set([...(inHand.get(id) ?? []), ...waiting.map(({ key }) => key)]));
    },
    writing(worker, facts, heard) {
      const runId = facts[0]?.runId ?? "";
      if (!facts.some((fact) => fact.type === "done")) return;
      for (const key of inHand.get(`${worker} ${runId}`) ?? [])
        if (!heard.includes(key) && isUnheard(runId, key))
          world.violate("a run does not end over the head of who has spoken", `"${key}" to ${runId}`);
    },
    wrote(lease, facts, heard) {
      const runId = facts[0]?.runId ?? "";
      for (const key of heard) {
        const message = messages.get(`${runId} ${key}`);
        if (!message) world.violate("only what was told is heard", `"${key}" to ${runId}`);
        else if (++message.heard > 1) world.violate("what was told is heard once", `"${key}" to ${runId}`);
      }
      const isWork = facts.some(({ type }) => type !== "recovered" && type !== "run_start");
      if (!lease || lease.hasWritten || !isWork) return;
      lease.hasWritten = true;
      for (const { place, key, heard: times, ...message } of messages.values())
        if (message.runId === runId && times === 0 && place < lease.toldBefore)
          world.violate("who takes up a run hears first what it was told", `"${key}" to ${runId}`);
    },
  };
}

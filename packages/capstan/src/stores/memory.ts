import { AgentError } from "../errors.ts";
import { type Fact, identityOf } from "../event.ts";
import type { Blob, Store } from "../store.ts";
import { memoryLeases } from "./memory-leases.ts";

type Session = { facts: Fact[]; byIdentity: Map<string, Fact>; blobs: Map<string, Blob> };

/** Keeps sessions in this process: for tests, browsers and runs that nobody needs tomorrow. */
export function memory(): Store {
  const sessions = new Map<string, Session>();
  const sessionsByRun = new Map<string, string>();
  const { assertHeld, ...leases } = memoryLeases();

  function sessionFor(id: string): Session {
    const known = sessions.get(id);
    if (known) return known;
    const session: Session = { facts: [], byIdentity: new Map(), blobs: new Map() };
    sessions.set(id, session);
    return session;
  }

  return {
    ...leases,
    async append(facts, { expected, lease }) {
      assertHeld(lease);
      const session = sessionFor(lease.sessionId);
      const { facts: log, byIdentity } = session;
      const identified = facts.map((fact) => ({ fact, identity: identityOf(fact) }));
      if (log.length !== expected && identified.some(({ identity }) => !byIdentity.has(identity))) {
        const message = `The session "${lease.sessionId}" is at ${log.length}, not at ${expected}: read what is new first.`;
        throw new AgentError("position_conflict", message);
      }
      return identified.map(({ fact, identity }) => {
        const known = byIdentity.get(identity);
        if (known) return known;
        const placed: Fact = { ...fact, seq: log.length + 1 };
        log.push(placed);
        byIdentity.set(identity, placed);
        if (fact.type === "run_start") sessionsByRun.set(fact.runId, lease.sessionId);
        return placed;
      });
    },
    async read(sessionId, after = 0) {
      return sessions.get(sessionId)?.facts.slice(after) ?? [];
    },
    async sessionOf(runId) {
      return sessionsByRun.get(runId);
    },
    async list() {
      const infos = [...sessions].map(([id, { facts }]) => ({
        id,
        facts: facts.length,
        createdAt: facts[0]?.at ?? 0,
        updatedAt: facts.at(-1)?.at ?? 0,
      }));
      return infos.sort((left, right) => right.updatedAt - left.updatedAt);
    },
    async remove(sessionId) {
      for (const { runId } of sessions.get(sessionId)?.facts ?? []) sessionsByRun.delete(runId);
      sessions.delete(sessionId);
    },
    async putBlob(sessionId, { mediaType, data }) {
      const { blobs } = sessionFor(sessionId);
      const handle = `blob_${blobs.size + 1}`;
      blobs.set(handle, { mediaType, data, size: data.length });
      return handle;
    },
    async getBlob(sessionId, handle) {
      return sessions.get(sessionId)?.blobs.get(handle);
    },
  };
}

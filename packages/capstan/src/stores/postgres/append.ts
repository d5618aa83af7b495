import { AgentError } from "../../errors.ts";
import type { Fact, UnplacedFact } from "../../event.ts";
import { identifyFact } from "../../ids.ts";
import type { Store } from "../../store.ts";
import { searchableText } from "../search-text.ts";
import { startsRun, stateAfter } from "../store-rules.ts";
import type { Database } from "./database.ts";
import type { PostgresRow } from "./pool.ts";
import { isAboutContent } from "./store-error.ts";
import { originalFact, storedText, wordVector } from "./stored-text.ts";

type At = Parameters<Store["append"]>[1];

/** An append as the function in the database takes it. */
type Asked = {
  readonly sessionId: string;
  readonly json: string;
  readonly result: PromiseWithResolvers<readonly PostgresRow[]>;
};

const mostAtOnce = 100;
const mostCharacters = 1_000_000;
const mostUnderWay = 2;

/**
 * Sends appends. An append that comes alone goes at once; those that come while others are under way go together, in
 * one transaction: for many sessions that is many times faster than one commit each.
 */
export function openAppends(
  database: Database,
  { schema, origin }: { readonly schema: string; readonly origin: string },
): {
  append(facts: readonly UnplacedFact[], at: At, live: readonly string[]): Promise<readonly Fact[]>;
  settled(): Promise<void>;
} {
  const queue: Asked[] = [];
  const busySessions = new Set<string>();
  const underWay = new Set<Promise<void>>();
  const text = `SELECT asked.item, answer.* FROM json_array_elements($1::json) WITH ORDINALITY AS asked (append, item),
    LATERAL ${schema}.append(asked.append, $2) AS answer`;

  async function send(batch: readonly Asked[]): Promise<void> {
    try {
      const values = [`[${batch.map(({ json }) => json).join(",")}]`, origin];
      const rows = await database.query("append facts", { text, values });
      const byItem = Map.groupBy(rows, ({ item }) => Number(item));
      for (const [index, { result }] of batch.entries()) result.resolve(byItem.get(index + 1) ?? []);
    } catch (error) {
      const cause = error instanceof AgentError ? error.cause : error;
      if (batch.length > 1 && isAboutContent(cause)) await Promise.all(batch.map((one) => send([one])));
      else for (const { result } of batch) result.reject(error);
    }
  }

  function next(): Asked[] {
    const batch: Asked[] = [];
    let room = mostCharacters;
    for (const asked of [...queue]) {
      if (batch.length === mostAtOnce || (batch.length > 0 && asked.json.length > room)) break;
      if (busySessions.has(asked.sessionId)) continue; // it would wait there, and the others with it
      queue.splice(queue.indexOf(asked), 1);
      busySessions.add(asked.sessionId);
      batch.push(asked);
      room -= asked.json.length;
    }
    // Two stores that lock rows in the same order do not wait for each other in a circle.
    return batch.sort((left, right) => (left.sessionId < right.sessionId ? -1 : 1));
  }

  function pump(): void {
    while (underWay.size < mostUnderWay) {
      const batch = next();
      if (batch.length === 0) return;
      const sending = send(batch).finally(() => {
        underWay.delete(sending);
        for (const { sessionId } of batch) busySessions.delete(sessionId);
        pump();
      });
      underWay.add(sending);
    }
  }

  return {
    async append(facts, at, live) {
      const { sent, places } = distinct(facts);
      const json = JSON.stringify({ ...askedOf(sent, at), live });
      const result = Promise.withResolvers<readonly PostgresRow[]>();
      queue.push({ sessionId: at.lease.sessionId, json, result });
      queueMicrotask(pump); // what is asked for in this same moment goes along
      const rows = new Map<unknown, PostgresRow>();
      for (const row of await result.promise) {
        if (row.problem !== null) throw refusal(row, at);
        rows.set(Number(row.place), row);
      }
      return places.map((place) => placed(sent[place], rows.get(place)));
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** Each identity once, and for each fact the place of its identity. */
function distinct(facts: readonly UnplacedFact[]): { sent: Identified[]; places: number[] } {
  const sent = new Map<string, Identified & { readonly place: number }>();
  const places = facts.map((fact) => {
    const identity = identifyFact(fact);
    const known = sent.get(identity);
    if (!known) sent.set(identity, { fact, identity, place: sent.size });
    return known?.place ?? sent.size - 1;
  });
  return { sent: [...sent.values()], places };
}

type Identified = { readonly fact: UnplacedFact; readonly identity: string };

function askedOf(sent: readonly Identified[], { expected, lease, acknowledged: heard = [] }: At): object {
  return {
    session: storedText(lease.sessionId),
    token: lease.token,
    expected,
    run: storedText(sent[0]?.fact.runId ?? ""),
    heard: [...new Set(heard)].map(storedText),
    facts: sent.map(({ fact, identity }, place) => ({
      place,
      identity: storedText(identity),
      run: storedText(fact.runId),
      agent: storedText(fact.agent),
      at: fact.at,
      state: stateAfter(fact),
      starts: startsRun(fact),
      words: wordVector(searchableText(fact)),
      body: JSON.stringify(fact),
    })),
  };
}

function placed(sent: Identified | undefined, row: PostgresRow | undefined): Fact {
  if (!sent || !row) throw new AgentError("store_failed", "Postgres did not say where a fact was placed.");
  if (row.known !== null) return originalFact(row.known, row.placed);
  return { ...sent.fact, seq: Number(row.placed) };
}

function refusal({ problem, place }: PostgresRow, { expected, lease }: At): AgentError {
  const { sessionId } = lease;
  if (problem === "lease_lost")
    return new AgentError("lease_lost", `Another writer has taken over the session "${sessionId}".`);
  const message = `The session "${sessionId}" is at ${place}, not at ${expected}: read what is new first.`;
  return new AgentError("position_conflict", message);
}

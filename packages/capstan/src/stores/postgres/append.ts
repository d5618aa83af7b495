import { AgentError } from "../../base/errors.ts";
import { type Fact, factVersion, type UnplacedFact } from "../../kernel/event.ts";
import { identifyFact } from "../../kernel/ids.ts";
import type { AppendOptions, Store } from "../../runtime/store.ts";
import { toSearchText } from "../search-text.ts";
import { getRunState, isListedRunStart } from "../store-rules.ts";
import { getSummaryChange } from "../summarize-run.ts";
import type { Queries } from "./database.ts";
import type { PostgresRow } from "./pool.ts";
import { toRequestArgument } from "./requests.ts";
import { toStoredChange } from "./run-summaries.ts";
import { isContentError } from "./store-error.ts";
import { buildWordVector, decodeFact, encodeText } from "./stored-text.ts";

/** An append in the form the database function takes. */
type QueuedAppend = {
  readonly sessionId: string;
  readonly json: string;
  readonly result: PromiseWithResolvers<readonly PostgresRow[]>;
};

const maxBatchSize = 100;
const maxBatchLength = 1_000_000;
const maxConcurrent = 2;

/**
 * Creates a queue for appends. A single append is sent at once; appends that arrive while others are in flight are sent
 * together in one transaction, which for many sessions is much faster than one commit each.
 */
export function createAppendQueue(
  database: Queries,
  schema: string,
): Pick<Store, "append"> & { settled(): Promise<void> } {
  const queue: QueuedAppend[] = [];
  const busySessions = new Set<string>();
  const underWay = new Set<Promise<void>>();
  const text = `SELECT asked.item, answer.* FROM json_array_elements($1::json) WITH ORDINALITY AS asked (append, item),
    LATERAL ${schema}.append_facts(asked.append, '') AS answer`;

  async function send(batch: readonly QueuedAppend[]): Promise<void> {
    try {
      const values = [`[${batch.map(({ json }) => json).join(",")}]`];
      const rows = await database.query("append facts", { text, values });
      const byItem = Map.groupBy(rows, ({ item }) => Number(item));
      for (const [index, { result }] of batch.entries()) result.resolve(byItem.get(index + 1) ?? []);
    } catch (error) {
      const cause = error instanceof AgentError ? error.cause : error;
      if (batch.length > 1 && isContentError(cause)) await Promise.all(batch.map((one) => send([one])));
      else for (const { result } of batch) result.reject(error);
    }
  }

  function takeBatch(): QueuedAppend[] {
    const batch: QueuedAppend[] = [];
    let room = maxBatchLength;
    for (const asked of [...queue]) {
      if (batch.length === maxBatchSize || (batch.length > 0 && asked.json.length > room)) break;
      if (busySessions.has(asked.sessionId)) continue; // it would block, and the rest of the batch with it
      queue.splice(queue.indexOf(asked), 1);
      busySessions.add(asked.sessionId);
      batch.push(asked);
      room -= asked.json.length;
    }
    // Locking rows in the same order avoids deadlocks between stores.
    return batch.sort((left, right) => (left.sessionId < right.sessionId ? -1 : 1));
  }

  function sendBatches(): void {
    while (underWay.size < maxConcurrent) {
      const batch = takeBatch();
      if (batch.length === 0) return;
      const sending = send(batch).finally(() => {
        underWay.delete(sending);
        for (const { sessionId } of batch) busySessions.delete(sessionId);
        sendBatches();
      });
      underWay.add(sending);
    }
  }

  return {
    async append(facts, at) {
      const { sent, places } = deduplicate(facts);
      const json = JSON.stringify(toAppendArgument(sent, at));
      const result = Promise.withResolvers<readonly PostgresRow[]>();
      queue.push({ sessionId: at.lease.sessionId, json, result });
      queueMicrotask(sendBatches); // batches appends of the same moment
      const rows = new Map<unknown, PostgresRow>();
      for (const row of await result.promise) {
        if (row.problem !== null) throw toAppendError(row, at);
        rows.set(Number(row.place), row);
      }
      return places.map((place) => toFact(sent[place], rows.get(place)));
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** Returns each identity once, and for each fact the index of its identity. */
function deduplicate(facts: readonly UnplacedFact[]): { sent: IdentifiedFact[]; places: number[] } {
  const sent = new Map<string, IdentifiedFact & { readonly place: number }>();
  const places = facts.map((fact) => {
    const identity = identifyFact(fact);
    const known = sent.get(identity);
    if (!known) sent.set(identity, { fact, identity, place: sent.size });
    return known?.place ?? sent.size - 1;
  });
  return { sent: [...sent.values()], places };
}

type IdentifiedFact = { readonly fact: UnplacedFact; readonly identity: string };

function toAppendArgument(
  sent: readonly IdentifiedFact[],
  { expected, lease, acknowledged: heard = [], requests = [] }: AppendOptions,
): object {
  return {
    session: encodeText(lease.sessionId),
    token: lease.token,
    version: factVersion,
    summarized: true,
    expected,
    run: encodeText(sent[0]?.fact.runId ?? ""),
    heard: [...new Set(heard)].map(encodeText),
    ...(requests.length > 0 && { requests: requests.map(toRequestArgument) }),
    facts: sent.map(({ fact, identity }, place) => ({
      place,
      identity: encodeText(identity),
      run: encodeText(fact.runId),
      agent: encodeText(fact.agent),
      at: fact.at,
      state: getRunState(fact),
      starts: isListedRunStart(fact),
      words: buildWordVector(toSearchText(fact)),
      body: JSON.stringify(fact),
      summary: toStoredChange(getSummaryChange(fact), fact),
    })),
  };
}

function toFact(sent: IdentifiedFact | undefined, row: PostgresRow | undefined): Fact {
  if (!sent || !row) throw new AgentError("store_failed", "Postgres returned no position for a fact.");
  if (row.known !== null) return decodeFact({ body: row.known, seq: row.placed });
  return { ...sent.fact, seq: Number(row.placed) };
}

function toAppendError({ problem, place }: PostgresRow, { expected, lease }: AppendOptions): AgentError {
  const { sessionId } = lease;
  if (problem === "lease_lost")
    return new AgentError("lease_lost", `Another writer has taken over session "${sessionId}".`);
  const message = `Session "${sessionId}" is at position ${place}, not ${expected}. Read the new facts first.`;
  return new AgentError("position_conflict", message);
}

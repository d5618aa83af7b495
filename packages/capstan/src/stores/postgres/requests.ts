import type { StoredRequest } from "../../features/exact-requests/stored-request.ts";
import type { Store } from "../../runtime/store.ts";
import { clampRowLimit } from "../store-rules.ts";
import type { Queries } from "./database.ts";
import { decodeJson, encodeText } from "./stored-text.ts";

/** Reads the requests to models, which `append_facts` writes. */
export function createRequests(database: Queries, schema: string): Required<Pick<Store, "readRequests">> {
  return {
    async readRequests(sessionId, { from = 1, to = Infinity, turn, last = Infinity } = {}) {
      const values: unknown[] = [encodeText(sessionId), from, clampRowLimit(to), clampRowLimit(last)];
      if (turn) values.push(encodeText(turn.runId), turn.turn);
      const text = `SELECT body FROM ${schema}.requests WHERE session_id = $1 AND number BETWEEN $2 AND $3
        ${turn ? "AND run_id = $5 AND turn = $6" : ""} ORDER BY number DESC LIMIT $4`;
      const rows = await database.query("read requests", { text, values });
      return rows.map(({ body }) => decodeJson<StoredRequest>(body)).reverse();
    },
  };
}

/** Returns a request in the form that `append_facts` takes. */
export function toRequestArgument(request: StoredRequest): object {
  const { number, runId, turn } = request;
  return { number, run: encodeText(runId), turn, body: JSON.stringify(request) };
}

import type { RunInfo, RunMessage, Store } from "../../runtime/store.ts";
import { assertAcceptsMessages, assertCanRetry } from "../store-rules.ts";
import type { Watchers } from "../watchers.ts";
import type { Connection } from "./connection.ts";
import { type FactRow, parseFact } from "./stored-fact.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

type RunRow = {
  readonly number: number;
  readonly state: RunInfo["state"];
  readonly session: string;
  readonly sessionNumber: number;
};

/** Creates the message storage: messages to runs, kept until they are acknowledged. */
export function createRunMessages(
  connection: Connection,
  { read, write }: WorkQueue,
  notify: Watchers["notify"],
): Pick<Store, "sendMessage" | "listMessages"> {
  function storeMessage(runId: string, message: RunMessage): string | undefined {
    const sql = `SELECT runs.number, state, sessions.id AS session, sessions.number AS sessionNumber
      FROM runs JOIN sessions ON sessions.number = session WHERE runs.id = ?`;
    const run = connection.get<RunRow>(sql, encodeText(runId));
    const key = encodeText(message.key);
    if (run && connection.get("SELECT 1 FROM told WHERE run = ? AND key = ?", run.number, key))
      return undefined;
    const isRetry = message.type === "retry" && run?.state === "ended";
    if (isRetry) reopenRun(runId, run);
    else assertAcceptsMessages(runId, run);
    if (!run) return undefined;
    const insert = "INSERT INTO told (run, key, message) VALUES (?, ?, ?)";
    connection.run(insert, run.number, key, JSON.stringify(message));
    return fromStoredText(run.session);
  }

  /** The run has work again, so that any process takes it over. */
  function reopenRun(runId: string, { number, sessionNumber }: RunRow): void {
    const sql = "SELECT seq, version, fact FROM facts WHERE session = ? ORDER BY seq DESC LIMIT 1";
    const row = connection.get<FactRow>(sql, sessionNumber);
    assertCanRetry(runId, row && parseFact(row));
    connection.run("UPDATE runs SET state = 'waiting' WHERE number = ?", number);
  }

  return {
    async sendMessage(runId, message) {
      const sessionId = await write(() => storeMessage(runId, message));
      if (sessionId !== undefined) notify(sessionId, { type: "message", runId });
    },
    listMessages: (runId) =>
      read(() => {
        const sql = `SELECT message FROM told WHERE run = (SELECT number FROM runs WHERE id = ?)
          AND message IS NOT NULL ORDER BY number`;
        return connection
          .all<{ message: string }>(sql, encodeText(runId))
          .map((row) => JSON.parse(row.message));
      }),
  };
}

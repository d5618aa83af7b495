import type { RunInfo, RunMessage, Store } from "../../store.ts";
import { assertAcceptsMessages } from "../store-rules.ts";
import type { Watchers } from "../watchers.ts";
import type { Connection } from "./connection.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

type RunRow = { readonly number: number; readonly state: RunInfo["state"]; readonly session: string };

/** Creates the message storage: messages to runs, kept until they are acknowledged. */
export function createRunMessages(
  connection: Connection,
  { read, write }: WorkQueue,
  notify: Watchers["notify"],
): Pick<Store, "sendMessage" | "listMessages"> {
  function storeMessage(runId: string, message: RunMessage): string | undefined {
    const sql = `SELECT runs.number, state, sessions.id AS session
      FROM runs JOIN sessions ON sessions.number = session WHERE runs.id = ?`;
    const run = connection.get<RunRow>(sql, encodeText(runId));
    const key = encodeText(message.key);
    if (run && connection.get("SELECT 1 FROM told WHERE run = ? AND key = ?", run.number, key))
      return undefined;
    assertAcceptsMessages(runId, run);
    if (!run) return undefined;
    const insert = "INSERT INTO told (run, key, message) VALUES (?, ?, ?)";
    connection.run(insert, run.number, key, JSON.stringify(message));
    return fromStoredText(run.session);
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

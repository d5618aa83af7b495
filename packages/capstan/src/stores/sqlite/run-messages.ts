import type { RunInfo, RunMessage, Store } from "../../store.ts";
import { assertTellable } from "../store-rules.ts";
import type { Watchers } from "../watchers.ts";
import type { Connection } from "./connection.ts";
import { fromStored, toStored } from "./stored-text.ts";
import type { Turns } from "./work-queue.ts";

type RunRow = { readonly number: number; readonly state: RunInfo["state"]; readonly session: string };

/** What runs are told, kept until it is heard. */
export function sqliteInbox(
  connection: Connection,
  { read, write }: Turns,
  news: Watchers["tell"],
): Pick<Store, "sendMessage" | "listMessages"> {
  function leave(runId: string, message: RunMessage): string | undefined {
    const sql = `SELECT runs.number, state, sessions.id AS session
      FROM runs JOIN sessions ON sessions.number = session WHERE runs.id = ?`;
    const run = connection.get<RunRow>(sql, toStored(runId));
    const key = toStored(message.key);
    if (run && connection.get("SELECT 1 FROM told WHERE run = ? AND key = ?", run.number, key))
      return undefined;
    assertTellable(runId, run);
    if (!run) return undefined;
    const insert = "INSERT INTO told (run, key, message) VALUES (?, ?, ?)";
    connection.run(insert, run.number, key, JSON.stringify(message));
    return fromStored(run.session);
  }

  return {
    async sendMessage(runId, message) {
      const sessionId = await write(() => leave(runId, message));
      if (sessionId !== undefined) news(sessionId, { type: "message", runId });
    },
    listMessages: (runId) =>
      read(() => {
        const sql = `SELECT message FROM told WHERE run = (SELECT number FROM runs WHERE id = ?)
          AND message IS NOT NULL ORDER BY number`;
        return connection
          .all<{ message: string }>(sql, toStored(runId))
          .map((row) => JSON.parse(row.message));
      }),
  };
}

import type { UnplacedFact } from "../../kernel/event.ts";
import type { Lease, Store } from "../../runtime/store.ts";
import { getRunState } from "../store-rules.ts";
import type { Connection } from "./connection.ts";
import type { SessionDeletion } from "./delete-session.ts";
import { insertFact, updateRuns } from "./fact-log.ts";
import { createHiddenId, createHiddenSession, keepHidden, showSession } from "./hidden-sessions.ts";
import { insertRequests } from "./requests.ts";
import { encodeText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

/** Number of facts that are written in one transaction. */
const maxRows = 100;
/** How long a hidden session is kept without a new part. */
const writeTimeoutMs = 60_000;

type WriteOptions = Pick<SessionDeletion, "deleteHidden"> &
  Pick<Store, "putBlob"> & { now(): number; assertHeld(lease: Lease): void };

/** Creates `writeSession`: the session is hidden while it is written in parts. */
export function createWriteSession(
  connection: Connection,
  { write }: WorkQueue,
  { now, assertHeld, putBlob, deleteHidden }: WriteOptions,
): Store["writeSession"] {
  return async ({ lease, title = "" }, fill) => {
    const hiddenId = createHiddenId();
    const computeUntil = () => now() + writeTimeoutMs;
    const session = await write(() => createHiddenSession(connection, hiddenId, computeUntil()));
    let facts = 0;
    let [first, last, lastOfRun]: (UnplacedFact | undefined)[] = [];

    function insertPart(part: readonly UnplacedFact[]): void {
      keepHidden(connection, session, computeUntil());
      const added = part.map((fact, index) =>
        insertFact(connection, { session, seq: facts + index + 1 }, fact),
      );
      updateRuns(connection, added, "ended"); // a run that is not complete yet must not be resumed
    }

    function finish(): void {
      assertHeld(lease);
      const times = { createdAt: first?.at ?? now(), updatedAt: last?.at ?? now() };
      showSession(connection, session, { id: lease.sessionId, title, facts, ...times });
      if (!lastOfRun) return;
      const sql = "UPDATE runs SET state = ? WHERE session = ? AND id = ?";
      connection.run(sql, getRunState(lastOfRun), session, encodeText(lastOfRun.runId));
    }

    try {
      await fill({
        async append(added) {
          for (let from = 0; from < added.length; from += maxRows) {
            const part = added.slice(from, from + maxRows);
            await write(() => insertPart(part));
            facts += part.length;
            first ??= part[0];
            last = part.at(-1);
            lastOfRun = part.findLast(({ parentRunId }) => parentRunId === undefined) ?? lastOfRun;
          }
        },
        putBlob: (blob) => putBlob(hiddenId, blob),
        putRequests: (requests) => write(() => insertRequests(connection, session, requests)),
      });
      await write(finish);
    } catch (error) {
      await deleteHidden(session).catch(() => undefined); // otherwise another process deletes it after `until`
      throw error;
    }
  };
}

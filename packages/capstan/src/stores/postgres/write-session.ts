import { AgentError } from "../../base/errors.ts";
import type { Store } from "../../runtime/store.ts";
import { createAppendQueue } from "./append.ts";
import { createBlobs } from "./blobs.ts";
import type { Database } from "./database.ts";
import { isSession } from "./migrations.ts";
import { encodeText } from "./stored-text.ts";

/** Number of facts in one statement. */
const maxRows = 250;

/** Creates `writeSession`: everything is in one transaction on one connection. */
export function createWriteSession(database: Database, schema: string): Store["writeSession"] {
  return ({ lease, title = "" }, write) =>
    database.runTransaction("write a session", async (transaction) => {
      const { sessionId } = lease;
      const id = encodeText(sessionId);
      const text = `SELECT FROM ${schema}.sessions WHERE id = $1 AND ${isSession}`;
      if ((await transaction.query("find a session", { text, values: [id] })).length > 0) {
        const message = `Session "${sessionId}" already exists. Choose another id.`;
        throw new AgentError("position_conflict", message);
      }
      const { append } = createAppendQueue(transaction, schema);
      const { putBlob } = createBlobs(transaction, schema);
      let expected = 0;
      await write({
        async append(facts) {
          for (let from = 0; from < facts.length; from += maxRows) {
            const part = facts.slice(from, from + maxRows);
            await append(part, { expected, lease });
            expected += part.length;
          }
        },
        putBlob: (blob) => putBlob(sessionId, blob),
        async putRequests(requests) {
          await append([], { expected, lease, requests });
        },
      });
      const update = `UPDATE ${schema}.sessions SET title = $2 WHERE id = $1`;
      await transaction.query("name a session", { text: update, values: [id, encodeText(title)] });
    });
}

import { AgentError, type Json, type Store } from "capstan";

const maxAttempts = 20;

type RecordKey = { readonly kind: string; readonly id: string };

/** Updates a record, or removes it if `update` returns undefined. Retries after a concurrent change. */
export async function updateRecord(
  store: Store,
  { kind, id }: RecordKey,
  update: (body: Json | undefined) => Json | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const record = await store.getRecord(kind, id);
    const body = update(record?.body);
    try {
      if (body !== undefined) await store.putRecord({ kind, id, body, replaces: true }, record?.version ?? 0);
      else if (record) await store.removeRecord(kind, id, record.version);
      return;
    } catch (thrown) {
      const isConflict = thrown instanceof AgentError && thrown.code === "position_conflict";
      if (!isConflict || attempt >= maxAttempts) throw thrown;
    }
  }
}

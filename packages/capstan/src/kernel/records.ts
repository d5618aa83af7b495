import { describeThrown } from "../base/errors.ts";
import type { Json } from "../base/json.ts";

export type Blob = { readonly mediaType: string; readonly size: number; readonly data: string | Uint8Array };

export type NewBlob = Omit<Blob, "size">;

/** One version of a small document outside of sessions, such as a stored agent. */
export type StoredRecord = {
  /** The namespace of the id: records of different kinds may have the same id. */
  readonly kind: string;
  readonly id: string;
  /** Counts from 1. A number is never reused, even after the record was removed. */
  readonly version: number;
  readonly body: Json;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** Restricts a listing of records. */
export type RecordFilter = {
  /** Only the records with these ids. */
  readonly ids?: readonly string[];
  /** Only records whose id has this scope: the part before the first `~`, as in the id of a session. */
  readonly scope?: string;
  /**
   * Only records whose body has a number `dueAt` from 0 of at most this, the earliest first. With a `limit`, the cost depends on
   * the limit alone, and not on the number of records.
   */
  readonly dueUntil?: number;
  /** The maximum number of records. */
  readonly limit?: number;
};

/**
 * Small versioned records. A kind has at most 100 characters, an id 200, a body 1,000,000 bytes as JSON; larger values
 * reject with `invalid_input`. Returned records are copies that the caller may modify.
 */
export interface Records {
  /** Returns the newest version. */
  getRecord(kind: string, id: string): Promise<StoredRecord | undefined>;
  /** Returns the newest version of every record of a kind, ordered by id. */
  listRecords(kind: string, filter?: RecordFilter): Promise<readonly StoredRecord[]>;
  /** Returns all versions, oldest first; empty after the record was removed. */
  listRecordVersions(kind: string, id: string): Promise<readonly StoredRecord[]>;
  /**
   * Stores the next version. `expectedVersion` is the newest version known to the caller, 0 if the record must not
   * exist yet. Rejects with `position_conflict` if the stored version differs, so one of several concurrent writers
   * wins. With `replaces`, the same write deletes all earlier versions.
   */
  putRecord(
    record: { readonly kind: string; readonly id: string; readonly body: Json; readonly replaces?: true },
    expectedVersion: number,
  ): Promise<StoredRecord>;
  /** Deletes the record with all its versions. Rejects with `position_conflict` as `putRecord` does. */
  removeRecord(kind: string, id: string, expectedVersion: number): Promise<void>;
}

/** Concurrent writers of one record before a change is given up: each round, one of them succeeds. */
const maxUpdates = 100;

/**
 * Replaces the body of a record and deletes its earlier versions; removes the record if `update` returns undefined, and
 * leaves it if `update` returns the same body. Repeats after a concurrent change.
 */
export async function updateRecord(
  store: Pick<Records, "getRecord" | "putRecord" | "removeRecord">,
  { kind, id }: Pick<StoredRecord, "kind" | "id">,
  update: (body: Json | undefined) => Json | undefined | Promise<Json | undefined>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const record = await store.getRecord(kind, id);
    const body = await update(record?.body);
    if (body === record?.body) return;
    try {
      if (body !== undefined) await store.putRecord({ kind, id, body, replaces: true }, record?.version ?? 0);
      else if (record) await store.removeRecord(kind, id, record.version);
      return;
    } catch (thrown) {
      const isConflict = describeThrown(thrown, "store_failed").code === "position_conflict";
      if (!isConflict || attempt >= maxUpdates) throw thrown;
    }
  }
}

import type { Records, StoredRecord } from "../kernel/records.ts";
import { assertVersion, filterRecords, findDueTime, serializeRecord } from "./store-rules.ts";

/** A version with its body as JSON, so that callers cannot modify it, and when it is due. */
type StoredVersion = Omit<StoredRecord, "body"> & {
  readonly json: string;
  readonly dueAt?: number | undefined;
};
/** `last` is the last version number. A removal takes one too, so that numbers are never reused. */
type RecordVersions = { readonly versions: StoredVersion[]; last: number };

/** Creates records in memory. */
export function createMemoryRecords(now: () => number): Records {
  const kinds = new Map<string, Map<string, RecordVersions>>();

  function findVersions(kind: string, id: string): RecordVersions | undefined {
    return kinds.get(kind)?.get(id);
  }

  function ensureVersions(kind: string, id: string): RecordVersions {
    const byId = kinds.get(kind) ?? new Map<string, RecordVersions>();
    kinds.set(kind, byId);
    const found = byId.get(id) ?? { versions: [], last: 0 };
    byId.set(id, found);
    return found;
  }

  return {
    async getRecord(kind, id) {
      return toStoredRecord(findVersions(kind, id)?.versions.at(-1));
    },
    async listRecords(kind, filter) {
      const latest: StoredRecord[] = [];
      for (const { versions } of kinds.get(kind)?.values() ?? []) {
        const version = versions.at(-1);
        // Only what is due is parsed.
        const isDue =
          filter?.dueUntil === undefined || (version?.dueAt ?? Number.POSITIVE_INFINITY) <= filter.dueUntil;
        const record = isDue ? toStoredRecord(version) : undefined;
        if (record) latest.push(record);
      }
      return filterRecords(latest, filter);
    },
    async listRecordVersions(kind, id) {
      return (findVersions(kind, id)?.versions ?? [])
        .map(toStoredRecord)
        .filter((record) => record !== undefined);
    },
    async putRecord({ kind, id, body, replaces }, expectedVersion) {
      const json = serializeRecord({ kind, id, body });
      const before = findVersions(kind, id)?.versions.at(-1);
      assertVersion({ kind, id, version: before?.version ?? 0 }, expectedVersion);
      const found = ensureVersions(kind, id);
      found.last += 1;
      const updatedAt = now();
      const createdAt = before?.createdAt ?? updatedAt;
      const dueAt = findDueTime(body);
      const next: StoredVersion = { kind, id, version: found.last, json, createdAt, updatedAt, dueAt };
      if (replaces) found.versions.length = 0;
      found.versions.push(next);
      return { kind, id, version: next.version, body: JSON.parse(json), createdAt, updatedAt };
    },
    async removeRecord(kind, id, expectedVersion) {
      const found = findVersions(kind, id);
      assertVersion({ kind, id, version: found?.versions.at(-1)?.version ?? 0 }, expectedVersion);
      if (!found || expectedVersion === 0) return;
      found.versions.length = 0;
      found.last += 1;
    },
  };
}

function toStoredRecord(version: StoredVersion | undefined): StoredRecord | undefined {
  if (!version) return undefined;
  const { json, dueAt: _, ...rest } = version;
  return { ...rest, body: JSON.parse(json) };
}

/** Creates the record storage on first use, because most stores have no records. */
export function createLazyRecords(create: () => Records): Records {
  let records: Records | undefined;
  const open = () => {
    records ??= create();
    return records;
  };
  return {
    getRecord: (kind, id) => open().getRecord(kind, id),
    listRecords: (kind, filter) => open().listRecords(kind, filter),
    listRecordVersions: (kind, id) => open().listRecordVersions(kind, id),
    putRecord: (record, expectedVersion) => open().putRecord(record, expectedVersion),
    removeRecord: (kind, id, expectedVersion) => open().removeRecord(kind, id, expectedVersion),
  };
}

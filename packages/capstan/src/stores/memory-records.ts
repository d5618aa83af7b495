import type { Records, StoredRecord } from "../store.ts";
import { assertVersion, byId, recordJson } from "./store-rules.ts";

/** A version as it is kept: its body as JSON, so that nobody changes it by holding it. */
type Version = Omit<StoredRecord, "body"> & { readonly json: string };
/** `last` is the number given last, which a removal takes too, so that none is given twice. */
type Known = { readonly versions: Version[]; last: number };

/** Records in this process. */
export function memoryRecords(now: () => number): Records {
  const kinds = new Map<string, Map<string, Known>>();

  function known(kind: string, id: string): Known | undefined {
    return kinds.get(kind)?.get(id);
  }

  function knownFor(kind: string, id: string): Known {
    const ofKind = kinds.get(kind) ?? new Map<string, Known>();
    kinds.set(kind, ofKind);
    const found = ofKind.get(id) ?? { versions: [], last: 0 };
    ofKind.set(id, found);
    return found;
  }

  return {
    async getRecord(kind, id) {
      return recordOf(known(kind, id)?.versions.at(-1));
    },
    async listRecords(kind) {
      const newest = [...(kinds.get(kind)?.values() ?? [])].map(({ versions }) => recordOf(versions.at(-1)));
      return newest.filter((record) => record !== undefined).sort(byId);
    },
    async listRecordVersions(kind, id) {
      return (known(kind, id)?.versions ?? []).map(recordOf).filter((record) => record !== undefined);
    },
    async putRecord({ kind, id, body, replaces }, expectedVersion) {
      const json = recordJson({ kind, id, body });
      const before = known(kind, id)?.versions.at(-1);
      assertVersion({ kind, id, version: before?.version ?? 0 }, expectedVersion);
      const found = knownFor(kind, id);
      found.last += 1;
      const updatedAt = now();
      const createdAt = before?.createdAt ?? updatedAt;
      const next: Version = { kind, id, version: found.last, json, createdAt, updatedAt };
      if (replaces) found.versions.length = 0;
      found.versions.push(next);
      return { kind, id, version: next.version, body: JSON.parse(json), createdAt, updatedAt };
    },
    async removeRecord(kind, id, expectedVersion) {
      const found = known(kind, id);
      assertVersion({ kind, id, version: found?.versions.at(-1)?.version ?? 0 }, expectedVersion);
      if (!found || expectedVersion === 0) return;
      found.versions.length = 0;
      found.last += 1;
    },
  };
}

function recordOf(version: Version | undefined): StoredRecord | undefined {
  if (!version) return undefined;
  const { json, ...rest } = version;
  return { ...rest, body: JSON.parse(json) };
}

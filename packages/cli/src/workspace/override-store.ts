import type { Store } from "capstan";

// Typed by `keyof Store`: a method that is added to the interface and missing here does not compile.
const methods: { readonly [Name in keyof Store]-?: true } = {
  append: true,
  read: true,
  findSession: true,
  findRun: true,
  create: true,
  getSession: true,
  list: true,
  measureSession: true,
  measureScope: true,
  listLargest: true,
  writeSession: true,
  remove: true,
  rename: true,
  listRuns: true,
  listOrphans: true,
  countRuns: true,
  queryRuns: true,
  summarizeRuns: true,
  putFeedback: true,
  search: true,
  sendMessage: true,
  listMessages: true,
  lease: true,
  renew: true,
  release: true,
  putSnapshot: true,
  getSnapshot: true,
  putBlob: true,
  getBlob: true,
  readRequests: true,
  publish: true,
  watch: true,
  watchWork: true,
  getRecord: true,
  listRecords: true,
  listRecordVersions: true,
  putRecord: true,
  removeRecord: true,
  close: true,
};

/**
 * Returns a store with some methods replaced; all others are bound to the original store. Unlike a spread, this also
 * works for a store that is an instance of a class.
 */
export function overrideStore(store: Store, overrides: Partial<Store>): Store {
  const bound = Object.keys(methods).map((name) => [name, store[name as keyof Store]?.bind(store)]);
  return { ...Object.fromEntries(bound), ...overrides };
}

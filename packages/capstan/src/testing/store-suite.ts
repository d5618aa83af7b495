import { afterEach, beforeEach, describe } from "vitest";
import type { Store } from "../runtime/store.ts";
import { appendsSuite } from "./store-suite/appends-suite.ts";
import { blobsSuite } from "./store-suite/blobs-suite.ts";
import { groupCommitSuite } from "./store-suite/group-commit-suite.ts";
import { leasesSuite } from "./store-suite/leases-suite.ts";
import { memoriesSuite } from "./store-suite/memories-suite.ts";
import { recordsSuite } from "./store-suite/records-suite.ts";
import { requestsSuite } from "./store-suite/requests-suite.ts";
import { runsSuite } from "./store-suite/runs-suite.ts";
import { scopesSuite } from "./store-suite/scopes-suite.ts";
import { searchSuite } from "./store-suite/search-suite.ts";
import { secondInstanceSuite } from "./store-suite/second-instance-suite.ts";
import { sessionsSuite } from "./store-suite/sessions-suite.ts";
import { snapshotsSuite } from "./store-suite/snapshots-suite.ts";
import { summariesSuite } from "./store-suite/summaries-suite.ts";
import { totalsSuite } from "./store-suite/totals-suite.ts";
import { watchingSuite } from "./store-suite/watching-suite.ts";
import { writingSuite } from "./store-suite/writing-suite.ts";

/** Options of `storeSuite`. */
export type StoreSuiteOptions = {
  /** Opens a second instance on the same data, as another process would. For shared stores. */
  readonly second?: (first: Store) => Store | Promise<Store>;
  /** False for a store without `readRequests`. Default: true. */
  readonly keepsRequests?: boolean;
  /** Called after each test, once the store is closed. */
  readonly close?: (store: Store) => unknown;
};

/** The contract of every store. A test of a store is one line: `storeSuite("acme", () => acme(…))`. */
export function storeSuite(
  name: string,
  make: () => Store | Promise<Store>,
  { second, close, keepsRequests = true }: StoreSuiteOptions = {},
): void {
  describe(`the store ${name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await make();
    });
    afterEach(async () => {
      await store.close();
      await close?.(store);
    });

    const getStore = () => store;
    appendsSuite(getStore);
    groupCommitSuite(getStore);
    sessionsSuite(getStore);
    writingSuite(getStore);
    scopesSuite(getStore);
    runsSuite(getStore);
    summariesSuite(getStore);
    totalsSuite(getStore);
    searchSuite(getStore);
    watchingSuite(getStore);
    leasesSuite(getStore);
    blobsSuite(getStore);
    if (keepsRequests) requestsSuite(getStore);
    recordsSuite(getStore);
    memoriesSuite(getStore);
    snapshotsSuite(getStore);
    if (second) secondInstanceSuite(getStore, second);
  });
}

import { afterEach, beforeEach, describe } from "vitest";
import type { Store } from "../store.ts";
import { appendsSuite } from "./store-suite/appends-suite.ts";
import { blobsSuite } from "./store-suite/blobs-suite.ts";
import { leasesSuite } from "./store-suite/leases-suite.ts";
import { recordsSuite } from "./store-suite/records-suite.ts";
import { runsSuite } from "./store-suite/runs-suite.ts";
import { scopesSuite } from "./store-suite/scopes-suite.ts";
import { searchSuite } from "./store-suite/search-suite.ts";
import { secondInstanceSuite } from "./store-suite/second-instance-suite.ts";
import { sessionsSuite } from "./store-suite/sessions-suite.ts";
import { watchingSuite } from "./store-suite/watching-suite.ts";

/** What a suite may be told of a store. */
export type StoreSuiteOptions = {
  /** Another instance on the data of the first one, as a second process would have; for stores that are shared. */
  readonly second?: (first: Store) => Store | Promise<Store>;
  /** Cleans up after each test, when the store is closed. */
  readonly close?: (store: Store) => unknown;
};

/** What every store must do. A test of a store is one line: `storeSuite("acme", () => acme(…))`. */
export function storeSuite(
  name: string,
  make: () => Store | Promise<Store>,
  { second, close }: StoreSuiteOptions = {},
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
    sessionsSuite(getStore);
    scopesSuite(getStore);
    runsSuite(getStore);
    searchSuite(getStore);
    watchingSuite(getStore);
    leasesSuite(getStore);
    blobsSuite(getStore);
    recordsSuite(getStore);
    if (second) secondInstanceSuite(getStore, second);
  });
}

import { describe, expect, it } from "vitest";
import type { RunState } from "../kernel/state.ts";
import { memory } from "../stores/memory.ts";
import { createInbox, type InboxSync, syncInbox } from "./inbox.ts";
import type { RunMessage, Store, StoreNotice } from "./store.ts";

const active = { agents: new Map(), now: 0, run: { id: "r" } as RunState };
const ended = {
  agents: new Map(),
  now: 0,
  run: { id: "r", done: { status: "done", text: "", grounded: true } } as RunState,
};
const steer: RunMessage = { key: "k", type: "steer", text: "Hurry." };

describe("a stored message in the inbox", () => {
  it("is delivered once, also when it is queued twice (F84)", async () => {
    const inbox = createInbox();
    inbox.put(steer);
    inbox.put(steer);
    const { facts, keys } = await inbox.take(active);
    expect(facts).toEqual([{ type: "steered", entry: { type: "user", content: "Hurry." } }]);
    expect(keys).toEqual(["k"]);
  });

  it("is not delivered after the end, because no fact may follow it", async () => {
    const inbox = createInbox();
    inbox.put(steer);
    expect(await inbox.take(ended)).toEqual({ facts: [], problems: [], keys: [] });
  });
});

type SyncHarness = {
  readonly sync: InboxSync;
  takeKeys(): Promise<readonly string[]>;
  notify(): void;
};

/** Syncs an inbox with a store that answers each read with the next of the given functions. */
function openSync(reads: (() => Promise<readonly RunMessage[]>)[]): SyncHarness {
  const inbox = createInbox();
  let notify: (notice: StoreNotice) => void = () => undefined;
  const store: Store = {
    ...memory(),
    listMessages: async () => (await reads.shift()?.()) ?? [],
    watch(_, listener) {
      notify = listener;
      return () => undefined;
    },
  };
  const sync = syncInbox({ store, sessionId: "s", runId: "r", inbox, abort: () => undefined });
  return {
    sync,
    takeKeys: async () => (await inbox.take(active)).keys,
    notify: () => notify({ type: "message", runId: "r" }),
  };
}

describe("syncing the inbox with the store", () => {
  it("queues nothing once it is closed: another process may have acknowledged it (F84)", async () => {
    const late = Promise.withResolvers<readonly RunMessage[]>();
    const { sync, takeKeys } = openSync([() => late.promise]);
    const pull = sync.pull();
    sync.close();
    late.resolve([steer]);
    await pull;
    expect(await takeKeys()).toEqual([]);
  });

  it("repeats a pull that failed, and rejects when that fails too (F70)", async () => {
    const fail = () => Promise.reject(new Error("gone"));
    const { sync, takeKeys, notify } = openSync([fail, fail, async () => [steer]]);
    notify();
    await new Promise((resolve) => setImmediate(resolve));
    await expect(sync.retryPull()).rejects.toThrow("gone");
    notify();
    await new Promise((resolve) => setImmediate(resolve));
    await sync.retryPull();
    expect(await takeKeys()).toEqual(["k"]);
  });
});

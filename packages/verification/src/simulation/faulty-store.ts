import { AgentError, type Store } from "capstan";
import type { StoreNotice } from "capstan/internal/verification";
import type { AuditedStore } from "./audited-store.ts";
import type { SimulatedWorker } from "./simulated-worker.ts";
import type { World } from "./world.ts";

/** How unreliable the connection between workers and store is. */
export type StoreFaults = {
  /** Probability that a call fails, half of the time after it took effect. */
  readonly failureRate: number;
  /** Probability that a request or response is slow. */
  readonly slowRate: number;
  readonly maxLatencyMs: number;
};

/** Frequent calls that would dominate the trace. */
const untracedCalls: readonly string[] = ["listOrphans", "listDue", "renew"];

type StoreCall<Value> = { readonly name: string; readonly about?: string; act(store: Store): Promise<Value> };

/**
 * The shared store behind an unreliable connection. A request may arrive after its sender was killed, or after later
 * requests. The response is delivered as a step of the worker.
 */
export function createFaultyStore(
  world: World,
  { audited, worker, version, storeFaults }: FaultyStoreOptions,
): Store {
  const { random, scheduler } = world;
  const shared = audited.forWorker(worker.name, version);
  let isNotifying = false;

  function drawLatency(): number {
    if (world.isCalm) return 1;
    return random.chance(storeFaults.slowRate) ? random.below(storeFaults.maxLatencyMs) : random.below(6);
  }

  function sendCall<Value>({ name, about = "", act }: StoreCall<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const isFailing = !world.isCalm && random.chance(storeFaults.failureRate);
      const isLost = isFailing && random.chance(0.5);
      const respond = (fire: () => void) => worker.schedule(drawLatency(), fire);
      const fail = (how: string) => {
        world.totals.faults += 1;
        world.log("store", `fails ${how} ${name} of ${worker.name} ${about}`);
        respond(() => reject(new AgentError("store_failed", `The store failed ${how} ${name}.`)));
      };
      scheduler.after(drawLatency(), () => {
        if (!worker.isAlive() && random.chance(0.5)) return;
        if (isFailing && !isLost) return fail("before");
        if (!untracedCalls.includes(name)) world.log("store", `${name} of ${worker.name} ${about}`);
        act(shared).then(
          (value) => (isLost ? fail("after") : respond(() => resolve(value))),
          (error) => {
            world.log("store", `refuses ${name} of ${worker.name}: ${error.code ?? error}`);
            respond(() => reject(error));
          },
        );
      });
    });
  }

  return {
    ...createPlainCalls(sendCall),
    append(facts, at) {
      audited.messages.beforeWrite(worker.name, facts, at.acknowledged ?? []);
      const about = `${at.lease.sessionId} ${at.expected} ${facts.map(({ type }) => type)} ${at.acknowledged ?? ""}`;
      return sendCall({ name: "append", about, act: (store) => store.append(facts, at) });
    },
    async listMessages(runId) {
      // Only a read caused by a notice delivers messages to the run.
      const isDelivery = isNotifying;
      try {
        const messages = await sendCall({
          name: "listMessages",
          about: runId,
          act: (store) => store.listMessages(runId),
        });
        if (isDelivery) audited.messages.onDeliver(worker.name, runId, messages);
        return messages;
      } catch (error) {
        if (isDelivery) audited.messages.onDeliveryFailure(worker.name, runId);
        throw error;
      }
    },
    publish(sessionId, pieces) {
      scheduler.after(drawLatency(), () => shared.publish(sessionId, pieces));
    },
    watch(sessionId, listener) {
      let isOpen = true;
      const notify = (notice: StoreNotice) =>
        worker.schedule(drawLatency(), () => {
          isNotifying = true;
          if (isOpen) listener(notice);
          isNotifying = false;
        });
      const unwatch = shared.watch(sessionId, (notice) => {
        if (!isOpen || !worker.isAlive()) return;
        notify(notice);
        if (random.chance(0.05)) notify(notice);
      });
      return () => {
        isOpen = false;
        unwatch();
      };
    },
    close: async () => undefined,
  };
}

export type FaultyStoreOptions = {
  readonly audited: AuditedStore;
  readonly worker: SimulatedWorker;
  readonly version: number;
  readonly storeFaults: StoreFaults;
};

/** Calls that are forwarded unchanged. */
function createPlainCalls(
  call: <Value>(made: StoreCall<Value>) => Promise<Value>,
): Omit<Store, "append" | "listMessages" | "publish" | "watch" | "close"> {
  return {
    read: (sessionId, after, limit) =>
      call({ name: "read", about: sessionId, act: (store) => store.read(sessionId, after, limit) }),
    findSession: (runId) => call({ name: "findSession", act: (store) => store.findSession(runId) }),
    findRun: (runId) => call({ name: "findRun", act: (store) => store.findRun(runId) }),
    putSnapshot: (snapshot, lease) =>
      call({
        name: "putSnapshot",
        about: lease.sessionId,
        act: (store) => store.putSnapshot(snapshot, lease),
      }),
    getSnapshot: (sessionId) => call({ name: "getSnapshot", act: (store) => store.getSnapshot(sessionId) }),
    create: (sessionId, title) => call({ name: "create", act: (store) => store.create(sessionId, title) }),
    getSession: (sessionId) => call({ name: "getSession", act: (store) => store.getSession(sessionId) }),
    list: (options) => call({ name: "list", act: (store) => store.list(options) }),
    measureSession: (sessionId) =>
      call({ name: "measureSession", act: (store) => store.measureSession(sessionId) }),
    measureScope: (scope) => call({ name: "measureScope", act: (store) => store.measureScope(scope) }),
    listLargest: (limit) => call({ name: "listLargest", act: (store) => store.listLargest(limit) }),
    writeSession: (at, write) =>
      call({ name: "writeSession", act: (store) => store.writeSession(at, write) }),
    remove: (sessionId) => call({ name: "remove", act: (store) => store.remove(sessionId) }),
    rename: (sessionId, title) => call({ name: "rename", act: (store) => store.rename(sessionId, title) }),
    listRuns: (sessionId) => call({ name: "listRuns", act: (store) => store.listRuns(sessionId) }),
    getRecord: (kind, id) => call({ name: "getRecord", act: (store) => store.getRecord(kind, id) }),
    listRecords: (kind, filter) =>
      call({
        name: filter?.dueUntil === undefined ? "listRecords" : "listDue",
        act: (store) => store.listRecords(kind, filter),
      }),
    listRecordVersions: (kind, id) =>
      call({ name: "listRecordVersions", act: (store) => store.listRecordVersions(kind, id) }),
    putRecord: (record, expected) =>
      call({ name: "putRecord", act: (store) => store.putRecord(record, expected) }),
    removeRecord: (kind, id, expected) =>
      call({ name: "removeRecord", act: (store) => store.removeRecord(kind, id, expected) }),
    listOrphans: (options) => call({ name: "listOrphans", act: (store) => store.listOrphans(options) }),
    countRuns: () => call({ name: "countRuns", act: (store) => store.countRuns() }),
    queryRuns: (query) => call({ name: "queryRuns", act: (store) => store.queryRuns(query) }),
    summarizeRuns: (filter) => call({ name: "summarizeRuns", act: (store) => store.summarizeRuns(filter) }),
    putFeedback: (runId, feedback) =>
      call({ name: "putFeedback", act: (store) => store.putFeedback(runId, feedback) }),
    search: (words, options) => call({ name: "search", act: (store) => store.search(words, options) }),
    sendMessage: (runId, message) =>
      call({
        name: "sendMessage",
        about: `${runId} ${message.type} ${message.key}`,
        act: (store) => store.sendMessage(runId, message),
      }),
    lease: (sessionId, owner, ms) =>
      call({ name: "lease", about: sessionId, act: (store) => store.lease(sessionId, owner, ms) }),
    renew: (lease, ms) =>
      call({ name: "renew", about: lease.sessionId, act: (store) => store.renew(lease, ms) }),
    release: (lease) =>
      call({ name: "release", about: lease.sessionId, act: (store) => store.release(lease) }),
    putBlob: (sessionId, blob) => call({ name: "putBlob", act: (store) => store.putBlob(sessionId, blob) }),
    getBlob: (sessionId, handle) =>
      call({ name: "getBlob", act: (store) => store.getBlob(sessionId, handle) }),
  };
}

import { AgentError } from "../errors.ts";
import type { Store, StoreNotice } from "../store.ts";
import type { AuditedStore } from "./audited-store.ts";
import type { Worker } from "./worker.ts";
import type { World } from "./world.ts";

/** How the way between workers and the store behaves in a world. */
export type Weather = {
  /** Of calls that fail, half of them after they took effect. */
  readonly faults: number;
  /** Of calls that take long, either way. */
  readonly slow: number;
  readonly longestMs: number;
};

/** They come again and again, and would be all there is in a trace. */
const unremarkable: readonly string[] = ["orphans", "renew"];

type Call<Value> = { readonly name: string; readonly about?: string; act(store: Store): Promise<Value> };

/**
 * The shared store as one worker sees it. A request travels alone: it may arrive after its sender was killed, and
 * after those that were sent later. The answer comes back to the worker as anything else that happens to it.
 */
export function faultyStore(world: World, { audited, worker, weather }: Way): Store {
  const { chance, scheduler } = world;
  const shared = audited.as(worker.name);
  let isHearing = false;

  function latency(): number {
    if (world.isCalm) return 1;
    return chance.is(weather.slow) ? chance.below(weather.longestMs) : chance.below(6);
  }

  function call<Value>({ name, about = "", act }: Call<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const isFailing = !world.isCalm && chance.is(weather.faults);
      const isLost = isFailing && chance.is(0.5);
      const answer = (fire: () => void) => worker.later(latency(), fire);
      const fail = (how: string) => {
        world.totals.faults += 1;
        world.note("store", `fails ${how} ${name} of ${worker.name} ${about}`);
        answer(() => reject(new AgentError("store_failed", `The store failed ${how} ${name}.`)));
      };
      scheduler.after(latency(), () => {
        if (!worker.isAlive() && chance.is(0.5)) return;
        if (isFailing && !isLost) return fail("before");
        if (!unremarkable.includes(name)) world.note("store", `${name} of ${worker.name} ${about}`);
        act(shared).then(
          (value) => (isLost ? fail("after") : answer(() => resolve(value))),
          (error) => {
            world.note("store", `refuses ${name} of ${worker.name}: ${error.code ?? error}`);
            answer(() => reject(error));
          },
        );
      });
    });
  }

  return {
    ...calls(call),
    append(facts, at) {
      audited.messages.writing(worker.name, facts, at.acknowledged ?? []);
      const about = `${at.lease.sessionId} ${at.expected} ${facts.map(({ type }) => type)} ${at.acknowledged ?? ""}`;
      return call({ name: "append", about, act: (store) => store.append(facts, at) });
    },
    async listMessages(runId) {
      // Only what a run itself looks for, because it was told that there is something, is for it to hear.
      const isLook = isHearing;
      try {
        const messages = await call({
          name: "told",
          about: runId,
          act: (store) => store.listMessages(runId),
        });
        if (isLook) audited.messages.delivered(worker.name, runId, messages);
        return messages;
      } catch (error) {
        if (isLook) audited.messages.missed(worker.name, runId);
        throw error;
      }
    },
    publish(sessionId, pieces) {
      scheduler.after(latency(), () => shared.publish(sessionId, pieces));
    },
    watch(sessionId, hear) {
      let isOpen = true;
      const tell = (news: StoreNotice) =>
        worker.later(latency(), () => {
          isHearing = true;
          if (isOpen) hear(news);
          isHearing = false;
        });
      const unwatch = shared.watch(sessionId, (news) => {
        if (!isOpen || !worker.isAlive()) return;
        tell(news);
        if (chance.is(0.05)) tell(news);
      });
      return () => {
        isOpen = false;
        unwatch();
      };
    },
    close: async () => undefined,
  };
}

export type Way = { readonly audited: AuditedStore; readonly worker: Worker; readonly weather: Weather };

/** Those that only travel. */
function calls(
  call: <Value>(made: Call<Value>) => Promise<Value>,
): Omit<Store, "append" | "listMessages" | "publish" | "watch" | "close"> {
  return {
    read: (sessionId, after) =>
      call({ name: "read", about: sessionId, act: (store) => store.read(sessionId, after) }),
    findSession: (runId) => call({ name: "sessionOf", act: (store) => store.findSession(runId) }),
    create: (sessionId, title) => call({ name: "create", act: (store) => store.create(sessionId, title) }),
    getSession: (sessionId) => call({ name: "info", act: (store) => store.getSession(sessionId) }),
    list: (options) => call({ name: "list", act: (store) => store.list(options) }),
    remove: (sessionId) => call({ name: "remove", act: (store) => store.remove(sessionId) }),
    rename: (sessionId, title) => call({ name: "rename", act: (store) => store.rename(sessionId, title) }),
    listRuns: (sessionId) => call({ name: "runs", act: (store) => store.listRuns(sessionId) }),
    getRecord: (kind, id) => call({ name: "record", act: (store) => store.getRecord(kind, id) }),
    listRecords: (kind) => call({ name: "records", act: (store) => store.listRecords(kind) }),
    listRecordVersions: (kind, id) =>
      call({ name: "recordVersions", act: (store) => store.listRecordVersions(kind, id) }),
    putRecord: (record, expected) =>
      call({ name: "putRecord", act: (store) => store.putRecord(record, expected) }),
    removeRecord: (kind, id, expected) =>
      call({ name: "removeRecord", act: (store) => store.removeRecord(kind, id, expected) }),
    listOrphans: () => call({ name: "orphans", act: (store) => store.listOrphans() }),
    search: (words, options) => call({ name: "search", act: (store) => store.search(words, options) }),
    sendMessage: (runId, message) =>
      call({
        name: "tell",
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

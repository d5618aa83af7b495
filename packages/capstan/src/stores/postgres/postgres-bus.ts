import type { DeltaBus } from "../../buses/delta-bus.ts";
import { openListener } from "./listener.ts";
import type { PostgresClient, PostgresPool } from "./pool.ts";

type PostgresBusOptions = {
  readonly pool: PostgresPool;
  /** The start of the names of the channels. */
  readonly prefix: string;
  /** Resolves when the database can be used. */
  prepare(): Promise<unknown>;
  /** Sends each payload on its channel, in one statement. */
  notify(channels: readonly string[], payloads: readonly string[]): Promise<unknown>;
};

/**
 * Creates a bus on LISTEN and NOTIFY, with one channel per topic. It listens on one connection, opened with the first
 * subscription. Any user who can connect to the database can listen.
 */
export function openPostgresBus({
  pool,
  prefix,
  prepare,
  notify,
}: PostgresBusOptions): DeltaBus & { close(): Promise<void> } {
  const channels = createChannels();
  const listener = openListener({
    ...{ pool, prepare },
    onOpen: channels.open,
    onClose: channels.close,
    onNotification: channels.deliver,
  });
  return {
    async publish(messages) {
      const names = messages.map(({ topic }) => nameChannel(prefix, topic));
      const payloads = messages.map(({ text }) => text);
      await notify(names, payloads);
    },
    subscribe(topic, onMessage) {
      listener.start();
      return channels.subscribe(nameChannel(prefix, topic), onMessage);
    },
    async close() {
      channels.close();
      await listener.close();
    },
  };
}

type Channel = {
  readonly listeners: Set<(text: string) => void>;
  readonly ready: PromiseWithResolvers<void>;
};

/** Channels without followers are left with the next ones, or after this long. */
const unlistenMs = 1_000;

/** The channels of a connection: it listens only on channels with followers. */
interface Channels extends Pick<DeltaBus, "subscribe"> {
  /** Called with a new connection; resolves when it listens. */
  open(client: PostgresClient): Promise<void>;
  close(): void;
  deliver(name: string, text: string): void;
}

function createChannels(): Channels {
  const channels = new Map<string, Channel>();
  const heldChannels = new Set<string>();
  let connection: PostgresClient | undefined;
  let isSyncing = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function syncChannels(client: PostgresClient): Promise<void> {
    for (;;) {
      const added = [...channels.keys()].filter((name) => !heldChannels.has(name));
      const removed = [...heldChannels].filter((name) => !channels.has(name));
      const statements = [
        ...added.map((name) => `LISTEN "${name}"`),
        ...removed.map((name) => `UNLISTEN "${name}"`),
      ];
      if (statements.length === 0) return;
      await client.query(statements.join("; "));
      for (const name of added) heldChannels.add(name);
      for (const name of removed) heldChannels.delete(name);
      for (const name of added) channels.get(name)?.ready.resolve();
    }
  }

  function sync(): void {
    timer = undefined;
    if (!connection || isSyncing) return;
    isSyncing = true;
    syncChannels(connection)
      .catch(() => undefined) // the connection has failed: the next one listens on all channels
      .finally(() => {
        isSyncing = false;
      });
  }

  function schedule(ms: number): void {
    if (timer !== undefined && ms > 0) return;
    clearTimeout(timer);
    timer = setTimeout(sync, ms);
    if (typeof timer === "object" && "unref" in timer) timer.unref();
  }

  return {
    async open(client) {
      heldChannels.clear();
      await syncChannels(client);
      connection = client;
      sync();
    },
    close() {
      connection = undefined;
      clearTimeout(timer);
      timer = undefined;
    },
    deliver(name, text) {
      for (const listener of channels.get(name)?.listeners ?? []) listener(text);
    },
    subscribe(name, onMessage) {
      const channel = channels.get(name) ?? { listeners: new Set(), ready: Promise.withResolvers<void>() };
      if (heldChannels.has(name)) channel.ready.resolve(); // also if it was about to be left
      channels.set(name, channel);
      channel.listeners.add(onMessage);
      schedule(0);
      return {
        ready: channel.ready.promise,
        close() {
          channel.listeners.delete(onMessage);
          if (channel.listeners.size > 0 || channels.get(name) !== channel) return;
          channels.delete(name);
          schedule(unlistenMs);
        },
      };
    },
  };
}

/** Names the channel of a topic. Names have at most 63 bytes, so the topic is hashed; its readers check each message. */
function nameChannel(prefix: string, topic: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < topic.length; index++) {
    const code = topic.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  const hash = [high, low]
    .map((half) => ((half ^ (half >>> 15)) >>> 0).toString(36).padStart(7, "0"))
    .join("");
  return `${prefix}_${hash}`;
}

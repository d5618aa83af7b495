import { createParser, type EventSourceMessage } from "eventsource-parser";
import { sleep } from "../clock.ts";
import { AgentError, describeThrown, type ErrorCode, type ErrorData, errorCodes } from "../errors.ts";
import { type Event, type Fact, isFact } from "../event.ts";
import type { Connection } from "./connection.ts";
import type { StreamMode } from "./stream-view.ts";
import { hearing } from "./track-position.ts";
import { inTime } from "./with-timeout.ts";
import type { World } from "./world.ts";

/** How it stands with the connection of a listener. */
export type ConnectionState =
  | { readonly type: "connecting" }
  | { readonly type: "open" }
  /** It tries again by itself. */
  | { readonly type: "lost"; readonly error: ErrorData; readonly retryInMs: number };

/** Settings of a listener. */
export type FollowOptions = {
  /** The `seq` of the last fact that is known already; from the first when left out. */
  readonly after?: number;
  /** How much of the text while it is being written; all when left out. */
  readonly stream?: StreamMode;
  /** Aborting it ends the iteration. */
  readonly signal?: AbortSignal;
  readonly onState?: (state: ConnectionState) => void;
  /** Throws when the connection has been lost for so long; left out, it goes on trying. */
  readonly giveUpAfterMs?: number;
};

/** What to follow. */
export type Source = {
  readonly path: string;
  readonly connection: Connection;
  readonly world: World;
  /** Nothing comes after this fact. */
  isEnd(fact: Fact): boolean | Promise<boolean>;
  /** The stream behind a given position was closed without a word, twice: whether nothing more is to come. */
  isOver(): Promise<boolean>;
};

const firstWaitMs = 250;
const longestWaitMs = 5_000;
/** The server gives a sign of life every 15 seconds. */
const stallMs = 45_000;
/** Larger events are refused before they fill the memory. */
const mostCharactersPerEvent = 64_000_000;

/**
 * The events of a stream, however often its connection is lost: it comes back by itself behind the last fact it has.
 * Every fact once, in order, without a gap. Deltas may be missing around a loss; before they begin again, a
 * `message_restart` takes back what they had said.
 */
export function followEvents(
  source: Source,
  options: FollowOptions,
): AsyncIterableIterator<Event, void, undefined> {
  const stop = new AbortController();
  const end = () => stop.abort();
  const events = follow(source, options, stop.signal);
  options.signal?.addEventListener("abort", end, { once: true });
  if (options.signal?.aborted) end();
  const forget = () => options.signal?.removeEventListener("abort", end);
  return {
    async next() {
      const step = await events.next().catch((error) => {
        forget();
        throw error;
      });
      if (step.done) forget();
      return step;
    },
    return() {
      forget();
      end();
      return events.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* follow(
  source: Source,
  { after = 0, stream = "all", onState, giveUpAfterMs = Number.POSITIVE_INFINITY }: FollowOptions,
  stop: AbortSignal,
): AsyncGenerator<Event, void, undefined> {
  const { clock, random } = source.world;
  const heard = hearing(after);
  let failures = 0;
  let silences = 0;
  let lostAt: number | undefined;
  while (!stop.aborted) {
    let failure = new AgentError("server_unreachable", "The connection to the server was cut.");
    onState?.({ type: "connecting" });
    try {
      const last = heard.lastFact();
      if (last && (await source.isEnd(last))) return;
      silences++;
      for await (const messages of listen(source, { after: heard.begin(), stream }, { stop, onState })) {
        for (const message of messages) {
          silences = 0;
          for (const event of heard.take(eventIn(message))) {
            yield event;
            if (stop.aborted) return;
            if (isFact(event) && (await source.isEnd(event))) return;
          }
        }
        failures = 0;
        lostAt = undefined;
      }
      // Behind the end there is nothing to say. Where a fact has been heard, the end is still to come.
      if (silences > 1 && !heard.lastFact() && after > 0 && (await source.isOver())) return;
    } catch (thrown) {
      if (stop.aborted) return;
      failure = asFailure(thrown);
      if (!failure.retryable) throw failure;
    }
    lostAt ??= clock.now();
    const waitMs = waitBefore(failure, failures++, random());
    if (clock.now() + waitMs - lostAt > giveUpAfterMs) throw failure;
    const { code, message, retryable } = failure;
    onState?.({ type: "lost", error: { code, message, retryable }, retryInMs: waitMs });
    await sleep(clock, waitMs, stop).catch(() => undefined); // aborted: the loop ends
  }
}

/** Never all at the same moment: the others who listen have lost the server too. */
function waitBefore({ retryAfterMs }: AgentError, failures: number, chance: number): number {
  if (retryAfterMs !== undefined) return Math.round(retryAfterMs * (1 + chance / 4));
  return Math.round(Math.min(longestWaitMs, firstWaitMs * 2 ** failures) * (1 - chance / 2));
}

type Listening = {
  readonly stop: AbortSignal;
  readonly onState: FollowOptions["onState"];
};

/** What one connection says, by reads of the network; none of its last event when it is cut in the middle of it. */
async function* listen(
  { path, connection, world: { clock } }: Source,
  { after, stream }: Required<Pick<FollowOptions, "after" | "stream">>,
  { stop, onState }: Listening,
): AsyncGenerator<readonly EventSourceMessage[], void, undefined> {
  const connected = new AbortController();
  const address = stream === "all" ? path : `${path}?stream=${stream}`;
  const limits = { clock, ms: stallMs, signal: stop };
  const decoder = new TextDecoder();
  let batch: EventSourceMessage[] = [];
  let isAlive = false;
  const parser = createParser({
    onEvent: (message) => void batch.push(message),
    onComment() {
      isAlive = true;
    },
    maxBufferSize: mostCharactersPerEvent,
    onError(cause) {
      if (cause.type === "max-buffer-size-exceeded")
        throw new AgentError("chunk_too_large", "One event is larger than 64 MB.", { cause });
    },
  });
  try {
    const body = await inTime(connection.open(address, after, connected.signal), limits);
    onState?.({ type: "open" });
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await inTime(reader.read(), limits);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      if (batch.length === 0 && !isAlive) continue;
      const messages = batch;
      batch = [];
      isAlive = false;
      yield messages;
    }
  } finally {
    connected.abort();
  }
}

/** Throws what the server says about the stream itself. */
function eventIn({ event, data }: EventSourceMessage): Event {
  const value = JSON.parse(data);
  if (event === "server_draining")
    throw new AgentError("draining", "The server is about to leave.", { retryAfterMs: value.retryMs });
  if (event === "stream_error") {
    const code: ErrorCode = Object.hasOwn(errorCodes, value.code) ? value.code : "internal";
    const retryable = code === "aborted" || errorCodes[code].retryable; // aborted: it was too slow a reader
    throw new AgentError(code, `The server has ended the stream: ${code}.`, { retryable });
  }
  return value;
}

/** A network that fails in the middle, or a byte that was changed on the way, is a lost connection. */
function asFailure(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const { message } = describeThrown(thrown, "server_unreachable");
  return new AgentError("server_unreachable", `The connection to the server was lost: ${message}`, {
    cause: thrown,
  });
}

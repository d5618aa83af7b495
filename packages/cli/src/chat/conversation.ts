import { setTimeout as delay } from "node:timers/promises";
import { type Agent, isFact, type Result, type Run } from "capstan";
import { errorWords, isAgentError } from "../errors/format-error.ts";
import type { Io } from "../io.ts";
import { includeFiles } from "../print/include-files.ts";
import { wrapped } from "../terminal/wrap.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { decide, tellRun } from "./decisions.ts";
import { duration, spent } from "./format-usage.ts";
import type { Transcript } from "./transcript.ts";
import type { View } from "./view.ts";

/** What can change while a chat is on. */
export type Place = {
  workspace: Workspace;
  agent: Agent;
  /** Left out until the first thing is said. */
  sessionId?: string | undefined;
  /** Tools whose calls need not be asked for again in this session. */
  readonly allowed: Set<string>;
};

/** The run of a chat that is on. */
export type Talk = {
  run: Run;
  /** The position of the last fact that was shown. */
  seen: number;
  /** What was said to it and is not heard yet. */
  queued: string[];
  isAsking: boolean;
  readonly startedAt: number;
  readonly stopped: AbortController;
};

/** The runs of a chat, one after the other. */
export interface Conversation {
  /** Left out while nothing is going on. */
  readonly talk: Talk | undefined;
  readonly isRunning: boolean;
  /** Says something, and resolves when the run that it begins has come to its end. */
  send(text: string): Promise<void>;
  /** Goes on with a stored run behind position `after`. */
  goOn(runId: string, after: number): Promise<void>;
  /** Says something to the run; false when there is none that would hear it. */
  steer(text: string): boolean;
  /** Ends the run soon, and resolves when that is stored; what was said is kept. */
  stop(): Promise<void>;
}

export type ConversationParts = {
  readonly place: Place;
  readonly view: View;
  readonly transcript: Transcript;
  readonly io: Io;
  lastKeyAt(): number;
  /** What was said to a run that ended before it could hear it. */
  onUnheard(text: string, wasStopped: boolean): void;
};

/** A run can be awaited, so it is handed over in something that cannot. */
type Begin = () => Promise<{ readonly run: Run; readonly seen: number }>;

/** A conversation in a place. */
export function conversation(parts: ConversationParts): Conversation {
  const { place, view, transcript, io } = parts;
  let talk: Talk | undefined;
  /** Before a run is there, its files are read. */
  let isRunning = false;
  let underWay = Promise.resolve();

  function converse(begin: Begin): Promise<void> {
    underWay = toItsEnd(begin);
    return underWay;
  }
  async function toItsEnd(begin: Begin): Promise<void> {
    isRunning = true;
    view.animate(true);
    const startedAt = Date.now();
    try {
      talk = { ...(await begin()), queued: [], isAsking: false, startedAt, stopped: new AbortController() };
      const { usage, context } = await follow(talk, parts);
      end();
      if (usage.inputTokens === 0) return;
      const line = spent(usage, Date.now() - startedAt, context);
      view.print(wrapped(line, view.columns() - 2).map((part) => view.style.dim(`  ${part}`)));
    } catch (error) {
      transcript.rest();
      transcript.notice(errorWords(error, io.env), "red");
    } finally {
      end();
    }
  }
  function end(): void {
    const last = talk;
    talk = undefined;
    isRunning = false;
    view.animate(false);
    view.redraw();
    if (last && last.queued.length > 0) parts.onUnheard(last.queued.join("\n"), last.stopped.signal.aborted);
  }

  return {
    get talk() {
      return talk;
    },
    get isRunning() {
      return isRunning;
    },
    async send(text) {
      transcript.person(text);
      await converse(async () => {
        const { input } = await includeFiles(text, io.cwd);
        const { workspace, agent, sessionId } = place;
        const given = sessionId === undefined ? {} : { session: sessionId };
        return { run: workspace.engine.run(agent, input, given), seen: 0 };
      });
    },
    goOn: (runId, after) => converse(async () => ({ run: place.workspace.engine.open(runId), seen: after })),
    steer(text) {
      if (!talk || talk.stopped.signal.aborted) return false;
      try {
        talk.run.steer(text);
      } catch {
        return false; // it has just ended
      }
      talk.queued = [...talk.queued, text];
      return true;
    },
    async stop() {
      if (!talk) return;
      if (!talk.stopped.signal.aborted) {
        talk.stopped.abort();
        talk.run.cancel("The person stopped it.");
      }
      await underWay;
    },
  };
}

/** Follows a run, through all its waits, to its end. */
async function follow(talk: Talk, parts: ConversationParts): Promise<Result> {
  const { place, transcript } = parts;
  for (;;) {
    try {
      await watch(talk, parts);
      const result = await talk.run;
      if (result.status !== "waiting") return result;
      transcript.pause();
      if (result.pending.length > 0) {
        await settle(talk, result, parts);
        continue;
      }
      await untilTime(talk, result, transcript);
    } catch (error) {
      // An answer that does not fit its question changes nothing: it is asked again.
      if (!isAgentError(error) || error.code !== "invalid_input" || talk.seen === 0) throw error;
      transcript.notice(error.message, "red");
    }
    talk.run = place.workspace.engine.open(talk.run.id);
  }
}

async function watch(talk: Talk, { place, transcript }: ConversationParts): Promise<void> {
  for await (const event of talk.run) {
    if (isFact(event) && event.seq <= talk.seen) continue;
    if (isFact(event)) talk.seen = event.seq;
    place.sessionId = event.sessionId;
    if (event.type === "steered") talk.queued = talk.queued.slice(1);
    transcript.hear(event);
  }
}

async function settle(
  talk: Talk,
  { pending }: Result,
  { place, view, lastKeyAt }: ConversationParts,
): Promise<void> {
  if (talk.stopped.signal.aborted) return;
  talk.isAsking = true;
  try {
    const decisions = await decide(pending, { view, allowed: place.allowed, lastKeyAt });
    if (tellRun(talk.run, pending, decisions)) talk.stopped.abort();
  } finally {
    talk.isAsking = false;
  }
}

async function untilTime(talk: Talk, { until = Date.now() }: Result, transcript: Transcript): Promise<void> {
  const waitMs = Math.max(200, until - Date.now() + 200);
  transcript.notice(`The model's provider asks for patience: going on in ${duration(waitMs)}.`);
  await delay(waitMs, undefined, { signal: talk.stopped.signal }).catch(() => undefined);
}

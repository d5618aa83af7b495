import type { Event, Fact } from "../event.ts";
import type { Entry } from "../history.ts";
import { fold } from "../state/apply.ts";
import type { Store } from "../store.ts";
import { type ForkOptions, fork } from "./fork.ts";
import { loadFacts, loadSessionInfo } from "./load-facts.ts";
import { type ReplayOptions, replay } from "./replay.ts";
import { serializeSession } from "./session-file.ts";
import { type SessionSummary, summarizeSession } from "./summary.ts";
import { toHtml } from "./to-html.ts";
import { toMarkdown } from "./to-markdown.ts";
import { buildTranscript } from "./transcript.ts";

/** `markdown` and `html` are for reading, `json` for importing. */
export type ExportFormat = "markdown" | "json" | "html";

/** A stored session. Every method except `facts` rejects with `not_found` if the session does not exist. */
export interface Session {
  readonly id: string;
  info(): Promise<SessionSummary>;
  /** Sets the title. An empty title restores the default, the start of the first message. */
  rename(title: string): Promise<void>;
  /** Permanently deletes the session with its facts and blobs. */
  remove(): Promise<void>;
  /** Returns the facts after position `after`. */
  facts(after?: number): Promise<readonly Fact[]>;
  /** Returns the history that the next run would start with. */
  history(): Promise<readonly Entry[]>;
  export(format: ExportFormat): Promise<string>;
  /**
   * Creates a session with the facts up to and including position `at`. A run cut off there is suspended and can be
   * resumed.
   */
  fork(at: number, options?: ForkOptions): Promise<Session>;
  /** Yields the recorded events in order. Executes nothing. */
  replay(options?: ReplayOptions): AsyncGenerator<Event, void, undefined>;
}

/** Returns a handle on a stored session. Nothing is read until a method is called. */
export function session(store: Store, id: string): Session {
  const loadInfo = () => loadSessionInfo(store, id);
  return {
    id,
    info: async () => summarizeSession(await loadInfo(), await store.read(id)),
    async rename(title) {
      await loadInfo();
      await store.rename(id, title);
    },
    async remove() {
      await loadInfo();
      await store.remove(id);
    },
    facts: (after) => store.read(id, after),
    history: async () => fold(id, await loadFacts(store, id)).history,
    async export(format) {
      const { title, ...info } = await loadInfo();
      const facts = await store.read(id);
      const titleField = title === undefined ? {} : { title };
      if (format === "json") return serializeSession(store, { id, facts, ...titleField });
      const transcript = buildTranscript({ ...info, ...titleField }, facts);
      return format === "html" ? toHtml(transcript) : toMarkdown(transcript);
    },
    fork: async (at, options = {}) => session(store, await fork(store, id, { ...options, at })),
    replay: (options) => replay(store, id, options),
  };
}

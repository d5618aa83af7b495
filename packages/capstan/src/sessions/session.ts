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

/** `markdown` and `html` are to be read, `json` is to be imported. */
export type ExportFormat = "markdown" | "json" | "html";

/** A stored session. Every method but `facts` rejects with `not_found` when there is none of that id. */
export interface Session {
  readonly id: string;
  info(): Promise<SessionSummary>;
  /** An empty title takes the old one away: it is then called by its first words. */
  rename(title: string): Promise<void>;
  /** With all its facts and blobs, for good. */
  remove(): Promise<void>;
  /** The facts behind position `after`. */
  facts(after?: number): Promise<readonly Fact[]>;
  /** What the next run would see. */
  history(): Promise<readonly Entry[]>;
  /** As a text: to read (`markdown`, `html`), or to import elsewhere (`json`). */
  export(format: ExportFormat): Promise<string>;
  /** A new session with the facts up to and with the one at `at`. A run that is cut there rests, and can be resumed. */
  fork(at: number, options?: ForkOptions): Promise<Session>;
  /** The recorded events in order. Executes nothing. */
  replay(options?: ReplayOptions): AsyncGenerator<Event, void, undefined>;
}

/** A handle on a stored session; nothing is read before it is asked. */
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

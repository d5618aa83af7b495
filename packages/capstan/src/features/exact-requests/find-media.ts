import type { Store } from "../../runtime/store.ts";
import { listMediaData } from "./media-data.ts";
import type { RequestMedia } from "./stored-request.ts";
import type { MediaReference } from "./text-pieces.ts";

/** Finds where a session has media, by their base64. Media that are not in the facts of the run are omitted. */
export type MediaFinder = (media: readonly RequestMedia[]) => Promise<ReadonlyMap<string, MediaReference>>;

type MediaFinderOptions = {
  readonly store: Pick<Store, "findRun" | "read">;
  readonly sessionId: string;
  readonly runId: string;
};

/**
 * Creates the search in the facts of a run, which are read when media are new to its requests: they came with its input, a
 * message or a tool result. Media of earlier runs are in the request that the new one is based on.
 */
export function createMediaFinder({ store, sessionId, runId }: MediaFinderOptions): MediaFinder {
  const known = new Map<string, MediaReference>();

  async function findInFacts(texts: readonly string[]): Promise<void> {
    const wanted = new Map(texts.map((data) => [data, data]));
    const firstSeq = (await store.findRun(runId))?.firstSeq ?? 1;
    for (const fact of await store.read(sessionId, firstSeq - 1))
      for (const [index, found] of listMediaData(fact).entries()) {
        // The string of the request, so that the one that was read does not stay in memory.
        const data = wanted.get(found);
        if (data !== undefined) known.set(data, { seq: fact.seq, index });
      }
  }

  return async (media) => {
    for (const { handle, data } of media) if (handle !== undefined) known.set(data, { blob: handle });
    const missing = media.flatMap(({ data }) => (known.has(data) ? [] : [data]));
    if (missing.length > 0) await findInFacts(missing);
    return known;
  };
}

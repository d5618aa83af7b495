import type { Feedback } from "capstan";
import type { NewFeedback } from "capstan/client";
import { useEffect } from "react";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { client } from "./client.ts";

type FeedbackState = {
  /** By run. */
  readonly byRun: ReadonlyMap<string, Feedback>;
  /** Replaces the feedback on a run; an empty one removes it. */
  readonly send: (runId: string, feedback: NewFeedback) => Promise<void>;
};

/** Feedback on the runs that are shown. */
export const useFeedback: UseBoundStore<StoreApi<FeedbackState>> = create<FeedbackState>()((set) => ({
  byRun: new Map(),
  async send(runId, feedback) {
    const stored = await client.sendFeedback(runId, feedback);
    set(({ byRun }) => {
      const others = [...byRun].filter(([other]) => other !== runId);
      return { byRun: new Map(stored ? [...others, [runId, stored]] : others) };
    });
  },
}));

/** Loads the feedback on the runs of a session. */
export function useLoadFeedback(sessionId: string): void {
  useEffect(() => {
    client.listRuns({ sessionId, limit: 1_000 }).then(
      ({ runs }) =>
        useFeedback.setState(({ byRun }) => ({
          byRun: new Map([
            ...byRun,
            ...runs.flatMap(({ runId, feedback }) => (feedback ? [[runId, feedback] as const] : [])),
          ]),
        })),
      // The page shows what is wrong with the session.
      () => undefined,
    );
  }, [sessionId]);
}

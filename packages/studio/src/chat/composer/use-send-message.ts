import type { Part } from "capstan";
import { useState } from "react";
import type { OpenSession } from "../../data/open-session.ts";
import { useSessionList } from "../../data/session-list.ts";
import type { SentText } from "../messages/find-queued.ts";
import { type RunChoice, toRunOptions } from "./run-choices.tsx";

/** State and actions for sending a message in a session. */
export type SendMessage = {
  readonly choice: RunChoice;
  readonly choose: (choice: RunChoice) => void;
  readonly isRunning: boolean;
  readonly send: (input: string | readonly Part[]) => Promise<void>;
};

/** `onSent` receives the text if it was sent during a run. */
export function useSendMessage(
  { view, watch }: OpenSession,
  onSent: (text: SentText | undefined) => void,
): SendMessage {
  const [choice, choose] = useState<RunChoice>({});
  const refresh = useSessionList((list) => list.refresh);
  const { status, runId = "" } = view;
  const isRunning = status === "running" || status === "waiting";
  const agent = choice.agent ?? view.runs.get(runId)?.start?.agent;
  async function send(input: string | readonly Part[]): Promise<void> {
    const { seq } = watch.view();
    await watch.send(input, toRunOptions({ ...choice, agent }));
    onSent(isRunning && typeof input === "string" ? { text: input, seq } : undefined);
    // Do not block the input until the list is refreshed.
    void refresh();
  }
  return { choice: { ...choice, agent }, choose, isRunning, send };
}

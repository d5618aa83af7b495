import type { Part } from "capstan";
import type { AboutAgent } from "capstan/client";
import { useEffect, useState } from "react";
import { useAbout } from "../../data/about.ts";
import { isAppAgent, type ParsedAgentName, parseAgentName } from "../../data/agents.ts";
import { useCurrentAgent } from "../../data/current-agent.ts";
import type { OpenSession } from "../../data/open-session.ts";
import { useSessionList } from "../../data/session-list.ts";
import type { SentText } from "../messages/find-queued.ts";
import { type RunChoice, toRunOptions } from "./run-choices.tsx";

/** State and actions for sending a message in a session. */
export type SendMessage = {
  readonly choice: RunChoice;
  readonly choose: (choice: RunChoice) => void;
  readonly isRunning: boolean;
  readonly send: (input: string | readonly Part[], provenance?: "application") => Promise<void>;
};

const noAgents: readonly AboutAgent[] = [];

/** `onSent` receives the text if it was sent during a run. */
export function useSendMessage(
  { view, watch }: OpenSession,
  onSent: (text: SentText | undefined) => void,
): SendMessage {
  const [choice, choose] = useState<RunChoice>({});
  const refresh = useSessionList((list) => list.refresh);
  const { status } = view;
  const isRunning = status === "running" || status === "waiting";
  const agents = useAbout(({ about }) => about?.agents ?? noAgents);
  const starts = [...view.runs.values()].filter(({ runId, rootRunId }) => runId === rootRunId);
  const startedAgent = starts.findLast(({ start }) => start && !isAppAgent(start.agent))?.start?.agent;
  const started: Partial<ParsedAgentName> =
    startedAgent === undefined ? {} : parseAgentName(startedAgent, agents);
  const current: RunChoice = { ...started, ...choice };
  useEffect(() => {
    if (started.agent !== undefined) useCurrentAgent.getState().set(started.agent);
  }, [started.agent]);
  async function send(input: string | readonly Part[], provenance?: "application"): Promise<void> {
    const { seq } = watch.view();
    await watch.send(input, { ...toRunOptions(current), ...(provenance && { provenance }) });
    onSent(isRunning && typeof input === "string" ? { text: input, seq } : undefined);
    // Do not block the input until the list is refreshed.
    void refresh();
  }
  return { choice: current, choose, isRunning, send };
}

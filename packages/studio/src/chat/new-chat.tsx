import type { Part } from "capstan";
import { type ReactNode, useEffect, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { useAbout } from "../data/about.ts";
import { getNewChatPath, getStartableAgents } from "../data/agents.ts";
import { client } from "../data/client.ts";
import { useSessionList } from "../data/session-list.ts";
import { runWithToast } from "../shell/toasts.tsx";
import { useSingleFlight } from "../shell/use-single-flight.ts";
import { ErrorMessage } from "../ui/state.tsx";
import { AgentCards } from "./agent-cards.tsx";
import { Composer } from "./composer/composer.tsx";
import { type RunChoice, toRunOptions } from "./composer/run-choices.tsx";
import { SidebarToggle } from "./conversation-header.tsx";
import { ModelLine } from "./model-line.tsx";

/** The start page. The URL holds the selected agent. */
export function NewChat(): ReactNode {
  const { about, error, refresh } = useAbout();
  const refreshList = useSessionList((list) => list.refresh);
  const [choice, setChoice] = useState<RunChoice>({});
  const [, navigate] = useLocation();
  const once = useSingleFlight();
  const [search] = useSearchParams();
  useEffect(() => void refresh(), [refresh]);
  const agents = getStartableAgents(about?.agents ?? []);
  const agent = search.get("agent") ?? agents[0]?.name;
  const chooseAgent = (name: string) => navigate(getNewChatPath(name), { replace: true });

  async function start(input: string | readonly Part[], agentName = agent): Promise<void> {
    const options = toRunOptions({ ...choice, agent: agentName });
    const { sessionId } = await client.runs.start({ input, ...options });
    navigate(`/sessions/${encodeURIComponent(sessionId)}`);
    await refreshList();
  }
  return (
    <>
      <header className="flex h-12 shrink-0 items-center gap-1 px-2 sm:px-3">
        <SidebarToggle />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto grid max-w-3xl grid-cols-1 gap-6 px-4 pb-8 pt-[6vh] sm:px-6">
          <div className="grid gap-2">
            <h1 className="text-2xl font-semibold tracking-tight">What would you like to do?</h1>
            <p className="text-quiet">
              Capstan runs agents that answer questions and use tools such as maps, files and search. You see
              every step, and agents ask before they make important changes. Choose an agent, or just ask.
            </p>
            <ModelLine about={about} />
          </div>
          <Composer
            draftKey="new"
            placeholder="Ask anything…"
            isRunning={false}
            choice={{ ...choice, agent }}
            onChoice={(next) => {
              setChoice(next);
              if (next.agent !== undefined && next.agent !== agent) chooseAgent(next.agent);
            }}
            onSend={start}
          />
          {error !== undefined && <ErrorMessage message={error} onRetry={() => void refresh()} />}
          <AgentCards
            agents={agents}
            chosen={agent}
            onChoose={chooseAgent}
            onSuggestion={(agentName, text) => runWithToast(() => once(() => start(text, agentName)))}
          />
        </div>
      </div>
    </>
  );
}

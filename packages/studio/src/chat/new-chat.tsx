import type { Part } from "capstan";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { useAbout } from "../data/about.ts";
import { getNewChatPath, getStartableAgents } from "../data/agents.ts";
import { client } from "../data/client.ts";
import { useCurrentAgent } from "../data/current-agent.ts";
import { usePreferredModel } from "../data/preferred-model.ts";
import { useSessionList } from "../data/session-list.ts";
import { SidebarToggle } from "../shell/sidebar-toggle.tsx";
import { runWithToast } from "../shell/toasts.tsx";
import { useSingleFlight } from "../shell/use-single-flight.ts";
import { ErrorMessage } from "../ui/state.tsx";
import { AgentCards } from "./agent-cards.tsx";
import { Composer } from "./composer/composer.tsx";
import { type RunChoice, toRunOptions } from "./composer/run-choices.tsx";
import { DestinationLine, useDestination } from "./destination.tsx";
import { Conversation } from "./lazy-conversation.ts";
import { ModelLine } from "./model-line.tsx";

/** The start page. The URL holds the selected agent; without one, a message goes to the agent that fits it. */
export function NewChat(): ReactNode {
  const { about, localModels, error, refresh } = useAbout();
  const refreshList = useSessionList((list) => list.refresh);
  const [effort, setEffort] = useState<RunChoice["effort"]>();
  const { model, prefer } = usePreferredModel();
  const [text, setText] = useState("");
  const [, navigate] = useLocation();
  const once = useSingleFlight();
  const chosen = useChosenAgent();
  useEffect(() => void refresh(), [refresh]);
  const hasText = text.trim() !== "";
  useEffect(() => {
    if (hasText) Conversation.preload();
  }, [hasText]);
  const agents = useMemo(() => getStartableAgents(about?.agents ?? []), [about]);
  const destination = useDestination(text, { agents, chosen });
  const chooseAgent = (name: string | undefined) =>
    navigate(name === undefined ? "/" : getNewChatPath(name), { replace: true });

  async function start(input: string | readonly Part[], agent = destination.agent): Promise<void> {
    Conversation.preload();
    const { sessionId } = await client.runs.start({ input, ...toRunOptions({ agent, model, effort }) });
    navigate(`/sessions/${encodeURIComponent(sessionId)}`);
    await refreshList();
  }
  return (
    <>
      <header className="flex h-12 shrink-0 items-center gap-1 px-2 sm:px-3">
        <SidebarToggle />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto grid max-w-3xl grid-cols-1 gap-3.5 px-4 pb-3 sm:px-6 sm:[@media(min-height:50rem)]:pt-[3vh]">
          <div className="grid gap-1">
            <h1 className="text-2xl font-semibold tracking-tight">What would you like to do?</h1>
            <p className="text-quiet">
              Ask, or choose an app. You see every step, and agents ask before they make important changes.
            </p>
            <ModelLine about={about} preferred={model} localModels={localModels} onPrefer={prefer} />
          </div>
          <Composer
            draftKey="new"
            placeholder="Ask anything…"
            isRunning={false}
            hidesAgent
            choice={{ agent: destination.agent, model, effort }}
            onChoice={(next) => {
              setEffort(next.effort);
              prefer(next.model);
            }}
            onTextChange={setText}
            onSend={start}
          />
          <DestinationLine
            destination={destination}
            agents={about?.agents ?? []}
            hasText={hasText}
            onChoose={chooseAgent}
          />
          {error !== undefined && <ErrorMessage message={error} onRetry={() => void refresh()} />}
        </div>
        <div className="px-4 pb-4 sm:px-6">
          <AgentCards
            agents={agents}
            marked={destination.reason === "default" ? undefined : destination.agent}
            chosen={chosen}
            onChoose={chooseAgent}
            onSuggestion={(agentName, suggestion) =>
              runWithToast(() => once(() => start(suggestion, agentName)))
            }
          />
        </div>
      </div>
    </>
  );
}

/** Returns the agent in the URL. */
function useChosenAgent(): string | undefined {
  const [search] = useSearchParams();
  const agent = search.get("agent") ?? undefined;
  useEffect(() => {
    if (agent !== undefined) useCurrentAgent.getState().set(agent);
  }, [agent]);
  return agent;
}

import type { Part } from "capstan";
import { type ReactNode, useEffect, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { useAbout } from "../data/about.ts";
import { beginners, newChatPath } from "../data/agents.ts";
import { client } from "../data/client.ts";
import { useSessionList } from "../data/session-list.ts";
import { attempt } from "../shell/toasts.tsx";
import { useOnce } from "../shell/use-once.ts";
import { Failure } from "../ui/state.tsx";
import { AgentCards } from "./agent-cards.tsx";
import { Composer } from "./composer/composer.tsx";
import { ListToggle } from "./conversation-header.tsx";
import { ModelLine } from "./model-line.tsx";

/** The first screen: what this is, who can be asked, and where to begin. The address says whom one has chosen. */
export function NewChat(): ReactNode {
  const { about, error, refresh } = useAbout();
  const refreshList = useSessionList((list) => list.refresh);
  const [model, setModel] = useState<string>();
  const [, go] = useLocation();
  const once = useOnce();
  const [search] = useSearchParams();
  useEffect(() => void refresh(), [refresh]);
  const agents = beginners(about?.agents ?? []);
  const agent = search.get("agent") ?? agents[0]?.name;
  const choose = (name: string) => go(newChatPath(name), { replace: true });

  async function start(input: string | readonly Part[], by = agent): Promise<void> {
    const { sessionId } = await client.runs.start({
      input,
      ...(by !== undefined && { agent: by }),
      ...(model !== undefined && { model }),
    });
    go(`/sessions/${encodeURIComponent(sessionId)}`);
    await refreshList();
  }
  return (
    <>
      <header className="flex h-12 shrink-0 items-center gap-1 px-2 sm:px-3">
        <ListToggle />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto grid max-w-3xl grid-cols-1 gap-6 px-4 pb-8 pt-[6vh] sm:px-6">
          <div className="grid gap-2">
            <h1 className="text-2xl font-semibold tracking-tight">What would you like to do?</h1>
            <p className="text-quiet">
              Capstan runs agents: programs that answer in words and use tools, such as a map, files or a
              search. You see every step, and they ask before they change what matters. Choose one, or just
              ask.
            </p>
            <ModelLine about={about} />
          </div>
          <Composer
            place="new"
            placeholder="Ask something…"
            isRunning={false}
            choice={{ agent, model }}
            onChoice={(next) => {
              setModel(next.model);
              if (next.agent !== undefined && next.agent !== agent) choose(next.agent);
            }}
            onSend={start}
          />
          {error !== undefined && <Failure message={error} onRetry={() => void refresh()} />}
          <AgentCards
            agents={agents}
            chosen={agent}
            onChoose={choose}
            onSuggestion={(by, text) => attempt(() => once(() => start(text, by)))}
          />
        </div>
      </div>
    </>
  );
}

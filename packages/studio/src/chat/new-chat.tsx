import type { Part } from "capstan";
import type { About, AboutAgent } from "capstan/client";
import { type ReactNode, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { useAbout } from "../connection/about.ts";
import { client } from "../connection/client.ts";
import { useSessionList } from "../connection/session-list.ts";
import { classNames } from "../look/class-names.ts";
import { Failure } from "../look/state.tsx";
import { steadyText } from "../markdown/visible-text.ts";
import { attempt } from "../shell/toasts.tsx";
import { Composer } from "./composer.tsx";
import { ListToggle } from "./conversation-header.tsx";
import type { RunChoice } from "./run-choices.tsx";

/** The first screen: what this is, who can be asked, and where to begin. */
export function NewChat(): ReactNode {
  const { about, error, refresh } = useAbout();
  const refreshList = useSessionList((list) => list.refresh);
  const [choice, setChoice] = useState<RunChoice>({});
  const [, go] = useLocation();
  useEffect(() => void refresh(), [refresh]);

  async function start(input: string | readonly Part[], agent = choice.agent): Promise<void> {
    const { model } = choice;
    const { sessionId } = await client.runs.start({
      input,
      ...(agent !== undefined && { agent }),
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
        <div className="mx-auto grid max-w-3xl grid-cols-1 gap-6 px-4 pb-8 pt-[8vh] sm:px-6">
          <div className="grid gap-1">
            <h1 className="text-2xl font-semibold tracking-tight">What would you like to do?</h1>
            <p className="text-quiet">Agents that show every step, and ask before they act.</p>
            <ModelLine about={about} />
          </div>
          <Composer
            place="new"
            placeholder="Ask something…"
            isRunning={false}
            choice={choice}
            onChoice={setChoice}
            onSend={start}
          />
          {error !== undefined && <Failure message={error} onRetry={() => void refresh()} />}
          <Agents
            about={about}
            chosen={choice.agent ?? about?.agents[0]?.name}
            onChoose={(agent) => setChoice({ ...choice, agent })}
            onSuggestion={(agent, text) => attempt(() => start(text, agent))}
          />
        </div>
      </div>
    </>
  );
}

function ModelLine({ about }: { readonly about: About | undefined }): ReactNode {
  const { model, isOffline } = about ?? {};
  return (
    <p className="h-6 text-sm text-faint">
      {isOffline ? (
        <>
          <span className="text-warn">Offline model: rules, not AI.</span>{" "}
          <Link href="/models" className="text-quiet underline underline-offset-2 hover:text-ink">
            Use a real one
          </Link>
        </>
      ) : (
        model !== undefined && `${steadyText(model)} answers`
      )}
    </p>
  );
}

type AgentsProps = {
  readonly about: About | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (agent: string) => void;
  readonly onSuggestion: (agent: string, text: string) => void;
};

function Agents({ about, chosen, onChoose, onSuggestion }: AgentsProps): ReactNode {
  const agents = about?.agents ?? [];
  // One that there is nothing to say about is no choice.
  if (!agents.some(({ description, suggestions }) => agents.length > 1 || description || suggestions?.length))
    return null;
  return (
    <section aria-label="Agents" className="grid gap-3 sm:grid-cols-2">
      {agents.map((agent) => (
        <AgentCard
          key={agent.name}
          agent={agent}
          isChosen={agents.length > 1 && agent.name === chosen}
          onChoose={() => onChoose(agent.name)}
          onSuggestion={(text) => onSuggestion(agent.name, text)}
        />
      ))}
    </section>
  );
}

type AgentCardProps = {
  readonly agent: AboutAgent;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly onSuggestion: (text: string) => void;
};

function AgentCard({ agent, isChosen, onChoose, onSuggestion }: AgentCardProps): ReactNode {
  const { name, title = name, description, suggestions = [] } = agent;
  return (
    <div
      className={classNames("flex flex-col rounded-xl border bg-raised p-4", isChosen && "border-accent/60")}
    >
      <button type="button" aria-pressed={isChosen} onClick={onChoose} className="text-left">
        <span className="block font-medium">{steadyText(title)}</span>
        {description !== undefined && (
          <span className="mt-0.5 line-clamp-3 block text-sm text-quiet">{steadyText(description)}</span>
        )}
      </button>
      {suggestions.length > 0 && (
        <ul className="mt-3 grid gap-0.5 border-t pt-2">
          {suggestions.slice(0, 4).map((text) => (
            <li key={text}>
              <button
                type="button"
                onClick={() => onSuggestion(text)}
                className="-mx-2 w-[calc(100%+1rem)] rounded-md px-2 py-1 text-left text-sm text-quiet hover:bg-sunken hover:text-ink"
              >
                {steadyText(text)}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

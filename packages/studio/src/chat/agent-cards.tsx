import type { AboutAgent } from "capstan/client";
import { Database } from "lucide-react";
import type { ReactNode } from "react";
import { OwnDataButton } from "../own-data/own-data-button.tsx";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi } from "../ui/escape-text.ts";

type AgentCardsProps = {
  readonly agents: readonly AboutAgent[];
  readonly chosen: string | undefined;
  readonly onChoose: (agent: string) => void;
  readonly onSuggestion: (agent: string, text: string) => void;
};

/** Agents to choose from, with suggestions. */
export function AgentCards({ agents, chosen, onChoose, onSuggestion }: AgentCardsProps): ReactNode {
  // A single agent without a description or suggestions needs no card.
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
  const { name, title = name, description, suggestions = [], app } = agent;
  return (
    <div
      data-own-data={app ?? name}
      className={classNames("flex flex-col rounded-xl border bg-raised p-4", isChosen && "border-accent/60")}
    >
      <button type="button" aria-pressed={isChosen} onClick={onChoose} className="text-left">
        <span className="flex items-center gap-1.5 font-medium">
          {app !== undefined && <Database size={14} className="shrink-0 text-faint" aria-hidden="true" />}
          {escapeBidi(title)}
          {app !== undefined && <span className="sr-only">, own data</span>}
        </span>
        {description !== undefined && (
          <span className="mt-0.5 line-clamp-3 block text-sm text-quiet">{escapeBidi(description)}</span>
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
                {escapeBidi(text)}
              </button>
            </li>
          ))}
        </ul>
      )}
      <OwnDataButton app={name} title={escapeBidi(title)} />
    </div>
  );
}

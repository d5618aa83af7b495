import type { AboutAgent } from "capstan/client";
import { Database } from "lucide-react";
import type { ReactNode } from "react";
import { OwnDataButton } from "../own-data/own-data-button.tsx";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi } from "../ui/escape-text.ts";

type AgentCardsProps = {
  readonly agents: readonly AboutAgent[];
  /** The agent that gets the message. */
  readonly marked: string | undefined;
  /** The agent that the user has chosen: its card shows all suggestions. */
  readonly chosen: string | undefined;
  readonly onChoose: (agent: string) => void;
  readonly onSuggestion: (agent: string, text: string) => void;
};

/** Agents to choose from, with suggestions. */
export function AgentCards({ agents, marked, chosen, onChoose, onSuggestion }: AgentCardsProps): ReactNode {
  // A single agent without a description or suggestions needs no card.
  if (!agents.some(({ description, suggestions }) => agents.length > 1 || description || suggestions?.length))
    return null;
  return (
    <section aria-label="Agents" className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
      {agents.map((agent) => (
        <AgentCard
          key={agent.name}
          agent={agent}
          isMarked={agents.length > 1 && agent.name === marked}
          showsAll={agents.length === 1 || agent.name === chosen}
          onChoose={() => onChoose(agent.name)}
          onSuggestion={(text) => onSuggestion(agent.name, text)}
        />
      ))}
    </section>
  );
}

const maxSuggestions = 4;
const fewSuggestions = 2;

type AgentCardProps = {
  readonly agent: AboutAgent;
  readonly isMarked: boolean;
  readonly showsAll: boolean;
  readonly onChoose: () => void;
  readonly onSuggestion: (text: string) => void;
};

function AgentCard({ agent, isMarked, showsAll, onChoose, onSuggestion }: AgentCardProps): ReactNode {
  const { name, title = name, description, suggestions = [], app } = agent;
  return (
    <div
      data-own-data={app ?? name}
      className={classNames(
        "flex flex-col rounded-xl border bg-raised px-4 pt-3.5 pb-2",
        isMarked && "border-accent/60",
      )}
    >
      <button type="button" aria-pressed={isMarked} onClick={onChoose} className="text-left">
        <span className="flex items-center gap-1.5 font-medium">
          {app !== undefined && <Database size={14} className="shrink-0 text-faint" aria-hidden="true" />}
          {escapeBidi(title)}
          {app !== undefined && <span className="sr-only">, own data</span>}
        </span>
        {description !== undefined && (
          <span className="mt-0.5 line-clamp-2 text-sm text-quiet">{escapeBidi(description)}</span>
        )}
      </button>
      {suggestions.length > 0 && (
        <ul className="mt-2.5 grid gap-0.5 border-t pt-1.5">
          {suggestions.slice(0, showsAll ? maxSuggestions : fewSuggestions).map((text) => (
            <li key={text}>
              <button
                type="button"
                onClick={() => onSuggestion(text)}
                className="-mx-2 w-[calc(100%+1rem)] min-h-11 rounded-md px-2 py-1 text-left text-sm text-quiet sm:min-h-0 hover:bg-sunken hover:text-ink"
              >
                {escapeBidi(text)}
              </button>
            </li>
          ))}
        </ul>
      )}
      <span className="flex-1" />
      <OwnDataButton app={name} title={escapeBidi(title)} />
    </div>
  );
}

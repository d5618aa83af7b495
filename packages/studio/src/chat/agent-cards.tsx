import type { AboutAgent } from "capstan/client";
import { ArrowUpRight, Database } from "lucide-react";
import type { ReactNode } from "react";
import { OwnDataButton } from "../own-data/own-data-button.tsx";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { AgentPicture } from "./agent-picture.tsx";

type AgentCardsProps = {
  readonly agents: readonly AboutAgent[];
  /** The agent that gets the message. */
  readonly marked: string | undefined;
  /** The agent that the user has chosen: its card shows all suggestions. */
  readonly chosen: string | undefined;
  readonly onChoose: (agent: string) => void;
  readonly onSuggestion: (agent: string, text: string) => void;
};

/** Agents to choose from, with suggestions: a row of cards, or a list on a phone. */
export function AgentCards({ agents, marked, chosen, onChoose, onSuggestion }: AgentCardsProps): ReactNode {
  // A single agent without a description or suggestions needs no card.
  if (!agents.some(({ description, suggestions }) => agents.length > 1 || description || suggestions?.length))
    return null;
  return (
    <section
      aria-label="Agents"
      className={classNames(
        "mx-auto grid gap-2 sm:grid-cols-[repeat(auto-fit,minmax(11rem,1fr))] sm:gap-3",
        agents.length > 3 ? "max-w-6xl" : "max-w-3xl",
      )}
    >
      {agents.map((agent) => (
        <AgentCard
          key={agent.name}
          agent={agent}
          picture={agent.picture ?? agents.find(({ name }) => name === agent.app)?.picture}
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
  readonly picture: AboutAgent["picture"];
  readonly isMarked: boolean;
  readonly showsAll: boolean;
  readonly onChoose: () => void;
  readonly onSuggestion: (text: string) => void;
};

function AgentCard(props: AgentCardProps): ReactNode {
  const { agent, picture, isMarked, showsAll, onChoose, onSuggestion } = props;
  const { name, title = name, description, suggestions = [], app } = agent;
  const shown = suggestions.slice(0, showsAll ? maxSuggestions : fewSuggestions);
  return (
    <div
      data-own-data={app ?? name}
      className={classNames(
        "relative flex gap-3 rounded-xl border bg-raised p-2.5 transition-colors sm:flex-col sm:gap-2.5",
        isMarked ? "border-accent ring-1 ring-accent" : "hover:border-faint/60",
      )}
    >
      <AgentPicture name={picture} className="h-14 w-20 shrink-0 rounded-lg sm:h-24 sm:w-full" />
      <div className="flex min-w-0 flex-1 flex-col sm:px-1 sm:pb-0.5">
        {/* The whole card chooses the agent, except for the other buttons in it. */}
        <button
          type="button"
          aria-pressed={isMarked}
          onClick={onChoose}
          className="text-left after:absolute after:inset-0 after:rounded-xl"
        >
          <span className="flex min-h-7 items-center gap-1.5 font-medium leading-snug sm:min-h-0">
            {app !== undefined && <Database size={14} className="shrink-0 text-faint" aria-hidden="true" />}
            {escapeBidi(title)}
            {app !== undefined && <span className="sr-only">, own data</span>}
          </span>
          {description !== undefined && (
            <span
              className={classNames(
                "mt-0.5 line-clamp-3 text-small text-quiet leading-snug",
                !showsAll && "max-sm:hidden",
              )}
            >
              {escapeBidi(description)}
            </span>
          )}
        </button>
        <span className="flex-1" />
        {shown.length > 0 && (
          <ul className="relative mt-1.5 grid gap-1.5 sm:mt-2">
            {shown.map((text, index) => (
              <li key={text} className={index > 0 && !showsAll ? "max-sm:hidden" : undefined}>
                <Suggestion text={text} onChoose={() => onSuggestion(text)} />
              </li>
            ))}
          </ul>
        )}
        <OwnDataButton app={name} title={escapeBidi(title)} />
      </div>
    </div>
  );
}

type SuggestionProps = { readonly text: string; readonly onChoose: () => void };

function Suggestion({ text, onChoose }: SuggestionProps): ReactNode {
  return (
    <button
      type="button"
      onClick={onChoose}
      className="group flex min-h-11 w-full items-center gap-1 rounded-lg border bg-paper py-1 pr-1.5 pl-2.5 text-left text-small text-ink leading-snug transition-colors hover:border-accent hover:bg-accent-soft sm:min-h-8"
    >
      <span className="line-clamp-3 min-w-0 flex-1">{escapeBidi(text)}</span>
      <ArrowUpRight
        size={14}
        aria-hidden="true"
        className="shrink-0 text-faint transition-transform group-hover:translate-x-0.5 group-hover:-translate-y-0.5 group-hover:text-accent"
      />
    </button>
  );
}

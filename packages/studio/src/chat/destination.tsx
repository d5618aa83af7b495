import type { AboutAgent } from "capstan/client";
import { type ReactNode, useMemo } from "react";
import { client } from "../data/client.ts";
import { useCurrentAgent } from "../data/current-agent.ts";
import { useRequest } from "../data/use-request.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { createAgentFinder } from "./find-fitting-agent.ts";

/** The agent that gets the message. */
export type Destination = {
  readonly agent: string | undefined;
  /** How it was found. `default`: no agent fits clearly. */
  readonly reason: "chosen" | "fits" | "default";
  /** The words of the message that it fits. */
  readonly words: readonly string[];
};

/** Finds the agent for a text, unless the user has chosen one. */
export function useDestination(
  text: string,
  { agents, chosen }: { readonly agents: readonly AboutAgent[]; readonly chosen: string | undefined },
): Destination {
  const current = useCurrentAgent((state) => state.agent);
  // Without the tools, only the profiles are compared.
  const { value: details } = useRequest("agents", () => client.agents.list());
  const find = useMemo(() => createAgentFinder(agents, details), [agents, details]);
  const fitting = useMemo(() => find(text), [find, text]);
  if (chosen !== undefined) return { agent: chosen, reason: "chosen", words: [] };
  if (fitting) return { ...fitting, reason: "fits" };
  const usual = agents.find(({ name }) => name === current) ?? agents[0];
  return { agent: usual?.name, reason: "default", words: [] };
}

type DestinationLineProps = {
  readonly destination: Destination;
  /** All agents that can be chosen. */
  readonly agents: readonly AboutAgent[];
  readonly hasText: boolean;
  /** Undefined: the agent that fits. */
  readonly onChoose: (agent: string | undefined) => void;
};

/** Shows which agent gets the message, and changes it. */
export function DestinationLine(props: DestinationLineProps): ReactNode {
  const { destination, agents, hasText, onChoose } = props;
  const { agent = "", reason } = destination;
  if (agents.length < 2) return null;
  const isOpen = reason !== "chosen" && !hasText;
  const title = getTitle(agents.find(({ name }) => name === agent));
  return (
    <div className="-mt-2 flex min-h-11 items-center gap-x-1.5 px-1 text-quiet text-sm sm:min-h-9">
      <span aria-hidden="true" className="shrink-0">
        Goes to
      </span>
      <select
        aria-label="Agent"
        title="The agent that gets your message"
        value={isOpen ? "" : agent}
        onChange={({ target }) => onChoose(target.value === "" ? undefined : target.value)}
        className="field-sizing-content h-11 min-w-24 max-w-[65%] shrink-0 cursor-pointer truncate rounded-md border bg-raised px-2 font-medium text-ink hover:bg-sunken sm:h-8"
      >
        <option value="">the app that fits</option>
        {agents.map((one) => (
          <option key={one.name} value={one.name}>
            {getTitle(one)}
          </option>
        ))}
      </select>
      {!isOpen && <Reason {...destination} />}
      <output className="sr-only">{isOpen ? "" : `Goes to ${title}`}</output>
    </div>
  );
}

const maxWords = 3;

function Reason({ reason, words }: Destination): ReactNode {
  if (reason === "chosen") return null;
  const quoted = words.slice(0, maxWords).map((word) => `“${escapeBidi(word)}”`);
  const why = reason === "fits" ? `because of ${quoted.join(", ")}` : "because no app fits clearly";
  return <span className="min-w-0 truncate text-faint">{why}</span>;
}

const getTitle = (agent: AboutAgent | undefined) => escapeBidi(agent?.title ?? agent?.name ?? "");

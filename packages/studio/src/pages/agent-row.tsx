import type { AgentInfo } from "capstan/client";
import { Download, History, MoreHorizontal, Pencil, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { steadyText } from "../markdown/visible-text.ts";
import { IconButton } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import { Tag } from "./page.tsx";

/** What can be done with an agent. */
export type AgentTask = "look" | "edit" | "versions" | "remove";

type AgentRowProps = {
  readonly agent: AgentInfo;
  readonly isAdmin: boolean;
  readonly onTask: (task: AgentTask) => void;
};

/** One agent in the list. */
export function AgentRow({ agent, isAdmin, onTask }: AgentRowProps): ReactNode {
  const { name, description, source, version, problem, models, tools, handoffs, data } = agent;
  const facts = [
    models[0] === undefined ? undefined : steadyText(models[0]),
    counted(tools.length, "tool"),
    handoffs.length > 0 ? `hands over to ${handoffs.map(steadyText).join(", ")}` : undefined,
  ];
  const isMine = isAdmin && data !== undefined;
  return (
    <li className="flex items-start gap-2 py-3 pl-4 pr-2">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2">
          <button
            type="button"
            onClick={() => onTask(isMine ? "edit" : "look")}
            className="text-left text-sm font-medium hover:text-accent [overflow-wrap:anywhere]"
          >
            {steadyText(name)}
          </button>
          {version !== undefined && <Tag>Version {version}</Tag>}
          {source === "imported" && <Tag>Imported</Tag>}
          {problem !== undefined && <Tag tone="bad">Cannot run</Tag>}
        </p>
        {description !== undefined && (
          <p className="mt-0.5 line-clamp-2 text-sm text-quiet [overflow-wrap:anywhere]">
            {steadyText(description)}
          </p>
        )}
        {problem !== undefined && (
          <p className="mt-0.5 text-sm text-bad [overflow-wrap:anywhere]">{steadyText(problem)}</p>
        )}
        <p className="mt-0.5 text-xs text-faint [overflow-wrap:anywhere]">
          {facts.filter((fact) => fact !== undefined).join(" · ")}
        </p>
      </div>
      {isMine && <AgentMenu agent={agent} onTask={onTask} />}
    </li>
  );
}

const counted = (count: number, thing: string) =>
  count === 0 ? `no ${thing}s` : `${count} ${thing}${count === 1 ? "" : "s"}`;

function AgentMenu({ agent, onTask }: Omit<AgentRowProps, "isAdmin">): ReactNode {
  return (
    <Menu
      trigger={
        <IconButton label={`More about ${steadyText(agent.name)}`} className="size-7">
          <MoreHorizontal size={15} />
        </IconButton>
      }
      items={[
        { label: "Edit", icon: <Pencil size={14} />, onSelect: () => onTask("edit") },
        { label: "Versions", icon: <History size={14} />, onSelect: () => onTask("versions") },
        {
          label: "Export as JSON",
          icon: <Download size={14} />,
          onSelect: () => saveFile(`${agent.name}.json`, `${JSON.stringify(agent.data, undefined, 2)}\n`),
        },
        { label: "Remove", icon: <Trash2 size={14} />, isDangerous: true, onSelect: () => onTask("remove") },
      ]}
    />
  );
}

/** Gives the person a file with this text. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replaceAll(/[^\w.-]+/g, "-");
  link.click();
  // Not at once: the browser reads it after this.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

import type { AgentInfo } from "capstan/client";
import { formatCount } from "capstan/sessions";
import { Download, History, MoreHorizontal, Pencil, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { Menu } from "../ui/menu.tsx";
import { Tag } from "./page.tsx";

/** Actions on an agent. */
export type AgentTask = "look" | "edit" | "versions" | "remove";

type AgentRowProps = {
  readonly agent: AgentInfo;
  readonly isAdmin: boolean;
  readonly onTask: (task: AgentTask) => void;
};

/** One agent in the list. */
export function AgentRow({ agent, isAdmin, onTask }: AgentRowProps): ReactNode {
  const {
    name,
    description,
    source,
    version,
    problem,
    warning,
    models,
    tools,
    skills = [],
    handoffs,
    data,
  } = agent;
  const details = [
    models[0] === undefined ? undefined : escapeBidi(models[0]),
    formatToolCount(tools.length, "tool"),
    skills.length > 0 ? formatToolCount(skills.length, "skill") : undefined,
    handoffs.length > 0 ? `hands off to ${handoffs.map(escapeBidi).join(", ")}` : undefined,
  ];
  const canEdit = isAdmin && data !== undefined;
  return (
    <li className="flex items-start gap-2 py-3 pl-4 pr-2">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2">
          <button
            type="button"
            onClick={() => onTask(canEdit ? "edit" : "look")}
            className="text-left text-sm font-medium hover:text-accent [overflow-wrap:anywhere]"
          >
            {escapeBidi(name)}
          </button>
          {version !== undefined && <Tag>Version {version}</Tag>}
          {source === "imported" && <Tag>Imported</Tag>}
          {problem !== undefined && <Tag tone="bad">Cannot run</Tag>}
        </p>
        {description !== undefined && (
          <p className="mt-0.5 line-clamp-2 text-sm text-quiet [overflow-wrap:anywhere]">
            {escapeBidi(description)}
          </p>
        )}
        {problem !== undefined && (
          <p className="mt-0.5 text-sm text-bad [overflow-wrap:anywhere]">{escapeBidi(problem)}</p>
        )}
        {warning !== undefined && (
          <p className="mt-0.5 text-sm text-warn [overflow-wrap:anywhere]">{escapeBidi(warning)}</p>
        )}
        <p className="mt-0.5 text-xs text-faint [overflow-wrap:anywhere]">
          {details.filter((fact) => fact !== undefined).join(" · ")}
        </p>
      </div>
      {canEdit ? (
        <AgentMenu agent={agent} onTask={onTask} />
      ) : (
        <IconButton
          label={`Versions of ${escapeBidi(name)}`}
          className="size-7"
          onClick={() => onTask("versions")}
        >
          <History size={15} />
        </IconButton>
      )}
    </li>
  );
}

const formatToolCount = (count: number, thing: string) =>
  count === 0 ? `no ${thing}s` : formatCount(count, thing);

function AgentMenu({ agent, onTask }: Omit<AgentRowProps, "isAdmin">): ReactNode {
  return (
    <Menu
      trigger={
        <IconButton label={`Actions for ${escapeBidi(agent.name)}`} className="size-7">
          <MoreHorizontal size={15} />
        </IconButton>
      }
      items={[
        { label: "Edit", icon: <Pencil size={14} />, onSelect: () => onTask("edit") },
        { label: "Versions", icon: <History size={14} />, onSelect: () => onTask("versions") },
        {
          label: "Export as JSON",
          icon: <Download size={14} />,
          onSelect: () => downloadFile(`${agent.name}.json`, `${JSON.stringify(agent.data, undefined, 2)}\n`),
        },
        { label: "Remove", icon: <Trash2 size={14} />, isDangerous: true, onSelect: () => onTask("remove") },
      ]}
    />
  );
}

/** Offers a text as a file download. */
export function downloadFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replaceAll(/[^\w.-]+/g, "-");
  link.click();
  // Delayed, because the browser reads the URL asynchronously.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

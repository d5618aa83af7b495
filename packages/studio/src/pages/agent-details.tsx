import type { AgentInfo } from "capstan/client";
import type { ReactNode } from "react";
import { client } from "../data/client.ts";
import { useAnswer } from "../data/use-request.ts";
import { steadyText, visibleText } from "../markdown/visible-text.ts";
import { attempt, toast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { timeAgo } from "../ui/format-age.ts";
import { Failure, Loading } from "../ui/state.tsx";
import { Changes } from "./tool-change.tsx";

/** What an agent is made of, for those who only look. */
export function AgentDetails({ agent }: { readonly agent: AgentInfo }): ReactNode {
  const { models, tools, handoffs, problem } = agent;
  return (
    <dl className="grid gap-4 text-sm">
      {problem !== undefined && <Detail title="Why it cannot run">{steadyText(problem)}</Detail>}
      <Detail title="Models">{models.map(steadyText).join(", then ") || "None"}</Detail>
      <Detail title="Tools">
        {tools.length === 0 && "None"}
        <ul className="grid gap-2">
          {tools.map(({ name, description, needsApproval }) => (
            <li key={name}>
              <span className="font-mono text-[0.8125rem] text-ink">{visibleText(name)}</span>
              {needsApproval && <span className="ml-2 text-xs text-accent">asks first</span>}
              <span className="line-clamp-3 [overflow-wrap:anywhere]">{steadyText(description)}</span>
            </li>
          ))}
        </ul>
      </Detail>
      <Detail title="May hand over to">{handoffs.map(steadyText).join(", ") || "Nobody"}</Detail>
    </dl>
  );
}

function Detail({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt className="font-medium">{title}</dt>
      <dd className="mt-0.5 text-quiet">{children}</dd>
    </div>
  );
}

type AgentVersionsProps = { readonly agent: AgentInfo; readonly onSaved: (agent: AgentInfo) => void };

const mostVersions = 20;

/** The versions of a stored agent, the newest first, each with what changed. */
export function AgentVersions({ agent, onSaved }: AgentVersionsProps): ReactNode {
  const { name, version: newest = 1 } = agent;
  const { value, error, again } = useAnswer(`${name} ${newest}`, () => versionsOf(name, newest));
  async function restore(old: AgentInfo): Promise<void> {
    if (!old.data) return;
    onSaved(await client.agents.save(old.data, newest));
    toast(`Version ${old.version} is in use again.`);
  }
  if (error !== undefined) return <Failure message={error} onRetry={again} />;
  if (!value) return <Loading label="Loading versions" />;
  return (
    <ol className="grid gap-6">
      {value.map((one, index) => (
        <li key={one.version} className="text-sm">
          <div className="flex flex-wrap items-center justify-between gap-2">
            <p>
              <span className="font-medium">Version {one.version}</span>
              {one.updatedAt !== undefined && (
                <span className="ml-2 text-quiet">{timeAgo(one.updatedAt, Date.now())}</span>
              )}
              {one.version === newest && <span className="ml-2 text-accent">in use</span>}
            </p>
            {one.version !== newest && (
              <Button size="small" onClick={() => attempt(() => restore(one))}>
                Use this again
              </Button>
            )}
          </div>
          {value[index + 1] ? (
            <Changes before={value[index + 1]?.data} after={one.data} />
          ) : (
            <p className="mt-1 text-quiet">
              {one.version === 1 ? "How it began." : "Older ones are not shown."}
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

async function versionsOf(name: string, newest: number): Promise<readonly AgentInfo[]> {
  const numbers = Array.from({ length: Math.min(newest, mostVersions) }, (_, index) => newest - index);
  const found = await Promise.allSettled(numbers.map((version) => client.agents.get(name, version)));
  return found.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

import type { AgentInfo } from "capstan/client";
import type { ReactNode } from "react";
import { client } from "../data/client.ts";
import { useRequest } from "../data/use-request.ts";
import { runWithToast, showToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { ErrorMessage, Loading } from "../ui/state.tsx";
import { FieldChanges } from "./tool-change.tsx";

/** Read-only details of an agent. */
export function AgentDetails({ agent }: { readonly agent: AgentInfo }): ReactNode {
  const { models, tools, handoffs, problem } = agent;
  return (
    <dl className="grid gap-4 text-sm">
      {problem !== undefined && <Detail title="Problem">{escapeBidi(problem)}</Detail>}
      <Detail title="Models">{models.map(escapeBidi).join(", then ") || "None"}</Detail>
      <Detail title="Tools">
        {tools.length === 0 && "None"}
        <ul className="grid gap-2">
          {tools.map(({ name, description, needsApproval }) => (
            <li key={name}>
              <span className="font-mono text-[0.8125rem] text-ink">{escapeInvisible(name)}</span>
              {needsApproval && <span className="ml-2 text-xs text-accent">needs approval</span>}
              <span className="line-clamp-3 [overflow-wrap:anywhere]">{escapeBidi(description)}</span>
            </li>
          ))}
        </ul>
      </Detail>
      <Detail title="Handoffs">{handoffs.map(escapeBidi).join(", ") || "None"}</Detail>
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

const maxVersions = 20;

/** The versions of a stored agent, newest first, with their changes. */
export function AgentVersions({ agent, onSaved }: AgentVersionsProps): ReactNode {
  const { name, version: newest = 1 } = agent;
  const { value, error, retry } = useRequest(`${name} ${newest}`, () => loadVersions(name, newest));
  async function restore(old: AgentInfo): Promise<void> {
    if (!old.data) return;
    onSaved(await client.agents.save(old.data, newest));
    showToast(`Version ${old.version} restored.`);
  }
  if (error !== undefined) return <ErrorMessage message={error} onRetry={retry} />;
  if (!value) return <Loading label="Loading versions" />;
  return (
    <ol className="grid gap-6">
      {value.map((one, index) => (
        <li key={one.version} className="text-sm">
          <div className="flex flex-wrap items-center justify-between gap-2">
            <p>
              <span className="font-medium">Version {one.version}</span>
              {one.updatedAt !== undefined && (
                <span className="ml-2 text-quiet">{formatTimeAgo(one.updatedAt, Date.now())}</span>
              )}
              {one.version === newest && <span className="ml-2 text-accent">current</span>}
            </p>
            {one.version !== newest && (
              <Button size="small" onClick={() => runWithToast(() => restore(one))}>
                Restore
              </Button>
            )}
          </div>
          {value[index + 1] ? (
            <FieldChanges before={value[index + 1]?.data} after={one.data} />
          ) : (
            <p className="mt-1 text-quiet">
              {one.version === 1 ? "First version." : "Older versions are not shown."}
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

async function loadVersions(name: string, newest: number): Promise<readonly AgentInfo[]> {
  const numbers = Array.from({ length: Math.min(newest, maxVersions) }, (_, index) => newest - index);
  const results = await Promise.allSettled(numbers.map((version) => client.agents.get(name, version)));
  return results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

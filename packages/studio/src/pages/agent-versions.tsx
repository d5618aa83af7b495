import type { AgentInfo, AgentVersionInfo } from "capstan/client";
import { type ReactNode, useId, useState } from "react";
import { Link } from "wouter";
import { client } from "../data/client.ts";
import { useRequest } from "../data/use-request.ts";
import { runWithToast, showToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { escapeInvisible } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { DiffWidget } from "../widgets/diff-widget.tsx";
import { FieldChanges } from "./tool-change.tsx";
import { compareVersions, type VersionChanges } from "./version-changes.ts";

type AgentVersionsProps = {
  readonly agent: AgentInfo;
  readonly canRestore: boolean;
  readonly onSaved: (agent: AgentInfo) => void;
};

/** The versions of an agent, newest first, with the difference between two of them. */
export function AgentVersions({ agent, canRestore, onSaved }: AgentVersionsProps): ReactNode {
  const { name, version: newest } = agent;
  const { value, error, retry } = useRequest(`versions ${name} ${newest}`, () =>
    client.agents.versions(name),
  );
  const [chosen, setChosen] = useState<string>();
  if (error !== undefined) return <ErrorMessage message={error} onRetry={retry} />;
  if (!value) return <Loading label="Loading versions" />;
  const selected = value.find(({ version }) => version === chosen) ?? value[0];
  if (!selected) return <EmptyState title="No versions yet">A version is kept once it is used.</EmptyState>;
  async function restore(number: number): Promise<void> {
    onSaved(await client.agents.restore(name, number, newest ?? 1));
    showToast(`Version ${number} restored.`);
  }
  return (
    <div className="grid gap-5">
      <ol className="divide-y rounded-lg border" aria-label="Versions">
        {value.map((one) => (
          <VersionRow
            key={one.version}
            agent={name}
            info={one}
            isSelected={one === selected}
            onSelect={() => setChosen(one.version)}
            onRestore={
              canRestore && !one.isCurrent && one.number !== undefined
                ? () => runWithToast(() => restore(one.number ?? 0))
                : undefined
            }
          />
        ))}
      </ol>
      <VersionComparison key={selected.version} versions={value} selected={selected} />
    </div>
  );
}

type VersionRowProps = {
  readonly agent: string;
  readonly info: AgentVersionInfo;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
  readonly onRestore: (() => void) | undefined;
};

function VersionRow({ agent, info, isSelected, onSelect, onRestore }: VersionRowProps): ReactNode {
  const { version, createdAt, isCurrent } = info;
  const runs = `/runs?agent=${encodeURIComponent(agent)}&version=${encodeURIComponent(version)}`;
  return (
    <li
      className={classNames(
        "flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-sm",
        isSelected && "bg-sunken",
      )}
    >
      <button
        type="button"
        aria-pressed={isSelected}
        onClick={onSelect}
        className="min-h-7 font-medium hover:text-accent"
      >
        {formatName(info)}
      </button>
      {info.number !== undefined && <code className="text-faint text-xs">{version}</code>}
      <span className="text-quiet">{formatTimeAgo(createdAt, Date.now())}</span>
      {isCurrent && <span className="text-accent">current</span>}
      <span className="ml-auto flex items-center gap-2">
        <Link href={runs} className="text-accent text-sm underline underline-offset-4">
          Runs<span className="sr-only"> of {formatName(info)}</span>
        </Link>
        {onRestore && (
          <Button size="small" onClick={onRestore}>
            Restore<span className="sr-only"> {formatName(info)}</span>
          </Button>
        )}
      </span>
    </li>
  );
}

const formatName = ({ version, number }: AgentVersionInfo): string =>
  number === undefined ? version : `Version ${number}`;

type ComparisonProps = {
  readonly versions: readonly AgentVersionInfo[];
  readonly selected: AgentVersionInfo;
};

/** Compares a version with an older one, the previous one at first. */
function VersionComparison({ versions, selected }: ComparisonProps): ReactNode {
  const id = useId();
  const others = versions.filter((one) => one !== selected);
  const previous = versions[versions.indexOf(selected) + 1] ?? others[0];
  const [otherVersion, setOther] = useState(previous?.version);
  const other = others.find(({ version }) => version === otherVersion);
  if (!selected.definition)
    return <p className="text-quiet text-sm">Only administrators can see what a version consists of.</p>;
  if (!other?.definition) return <p className="text-quiet text-sm">There is no other version to compare.</p>;
  return (
    <section aria-label="Changes" className="grid gap-4">
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <span className="font-medium">Changes in {formatName(selected)}</span>
        <label htmlFor={id} className="text-quiet">
          compared with
        </label>
        <select
          id={id}
          value={other.version}
          onChange={({ target }) => setOther(target.value)}
          className="h-8 rounded-md border bg-paper px-2 text-sm"
        >
          {others.map((one) => (
            <option key={one.version} value={one.version}>
              {formatName(one)}
            </option>
          ))}
        </select>
      </p>
      <Changes changes={compareVersions(other.definition, selected.definition)} />
    </section>
  );
}

function Changes({ changes }: { readonly changes: VersionChanges }): ReactNode {
  const { instructions, addedTools, removedTools, changedTools, hasOtherChanges } = changes;
  const hasTools = addedTools.length + removedTools.length + changedTools.length > 0;
  if (instructions === undefined && !hasTools && !hasOtherChanges)
    return <p className="text-quiet text-sm">They are the same.</p>;
  return (
    <>
      {instructions !== undefined && (
        <Part title="Instructions">
          <DiffWidget diff={instructions} />
        </Part>
      )}
      {hasTools && (
        <Part title="Tools">
          <ul className="mt-1 grid gap-1 text-sm">
            {addedTools.map((name) => (
              <ToolLine key={name} name={name} state="added" />
            ))}
            {removedTools.map((name) => (
              <ToolLine key={name} name={name} state="removed" />
            ))}
            {changedTools.map(({ name, before, after }) => (
              <li key={name}>
                <ToolName name={name} /> <span className="text-warn">changed</span>
                <FieldChanges before={before} after={after} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {hasOtherChanges && (
        <Part title="Settings">
          <FieldChanges before={changes.before} after={changes.after} />
        </Part>
      )}
    </>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="min-w-0">
      <h3 className="font-medium text-sm">{title}</h3>
      {children}
    </div>
  );
}

function ToolLine({
  name,
  state,
}: {
  readonly name: string;
  readonly state: "added" | "removed";
}): ReactNode {
  return (
    <li>
      <ToolName name={name} /> <span className={state === "added" ? "text-good" : "text-bad"}>{state}</span>
    </li>
  );
}

function ToolName({ name }: { readonly name: string }): ReactNode {
  return <code className="font-mono text-small [overflow-wrap:anywhere]">{escapeInvisible(name)}</code>;
}

import type { AboutAgent, DataSourceInfo } from "capstan/client";
import { Database } from "lucide-react";
import type { ReactNode } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { AgentPicture } from "../chat/agent-picture.tsx";
import { useAbout } from "../data/about.ts";
import { filterProfiled, getNewChatPath } from "../data/agents.ts";
import { OwnDataButton } from "../own-data/own-data-button.tsx";
import { useOwnData } from "../own-data/own-data-state.ts";
import { escapeBidi } from "../ui/escape-text.ts";

const maxApps = 40;

/** Agents with a profile, each followed by its own data. Each starts a new chat. */
export function AppList({ onChoose }: { readonly onChoose: () => void }): ReactNode {
  const about = useAbout((state) => state.about);
  const sources = useOwnData(({ data }) => data?.sources);
  const listed = filterProfiled(about?.agents ?? []);
  const apps = listed.filter(({ app }) => !listed.some(({ name }) => name === app)).slice(0, maxApps);
  if (apps.length === 0) return null;
  return (
    <nav
      aria-label="Apps"
      className="max-h-[40%] shrink-0 overflow-y-auto px-2 pt-1 pb-1 [scrollbar-gutter:stable]"
    >
      <h2 className="px-2 pb-1 font-medium text-faint text-xs">Apps</h2>
      <ul>
        {apps.map((app) => (
          <li key={app.name} data-own-data={app.app ?? app.name}>
            <div className="flex items-center">
              <AppLink agent={app} onChoose={onChoose} />
              <OwnDataButton app={app.name} title={escapeBidi(app.title ?? app.name)} isSmall />
            </div>
            <OwnDataEntries
              agents={listed.filter((agent) => agent.app === app.name)}
              unready={sources?.filter((one) => one.app === app.name && one.state !== "ready") ?? []}
              onChoose={onChoose}
            />
          </li>
        ))}
      </ul>
    </nav>
  );
}

type AppLinkProps = { readonly agent: AboutAgent; readonly onChoose: () => void };

function AppLink({ agent, onChoose }: AppLinkProps): ReactNode {
  const [path] = useLocation();
  const [search] = useSearchParams();
  const { name, title = name, description, app } = agent;
  const isSelected = path === "/" && search.get("agent") === name;
  return (
    <Link
      href={getNewChatPath(name)}
      onClick={onChoose}
      title={description === undefined ? undefined : escapeBidi(description)}
      aria-current={isSelected ? "page" : undefined}
      aria-label={app === undefined ? undefined : `${escapeBidi(title)}, own data`}
      className="flex min-w-0 flex-1 items-center gap-2 rounded-md px-2 py-1.5 pointer-coarse:min-h-11 text-quiet text-sm hover:bg-line/60 hover:text-ink aria-[current=page]:bg-line aria-[current=page]:font-medium aria-[current=page]:text-ink"
    >
      {app === undefined ? (
        <AgentPicture name={agent.picture} className="size-5 shrink-0 rounded" />
      ) : (
        <Database size={13} aria-hidden="true" className="shrink-0 text-faint" />
      )}
      <span className="truncate">{escapeBidi(title)}</span>
    </Link>
  );
}

type OwnDataEntriesProps = {
  readonly agents: readonly AboutAgent[];
  readonly unready: readonly DataSourceInfo[];
  readonly onChoose: () => void;
};

/** An app on own data, and data that is still loading or has failed. */
function OwnDataEntries({ agents, unready, onChoose }: OwnDataEntriesProps): ReactNode {
  const open = useOwnData((state) => state.open);
  if (agents.length === 0 && unready.length === 0) return null;
  const labels = { uploading: "uploading", loading: "loading", failed: "failed", ready: "" } as const;
  return (
    <ul className="pl-3">
      {agents.map((agent) => (
        <li key={agent.name} className="flex">
          <AppLink agent={agent} onChoose={onChoose} />
        </li>
      ))}
      {unready.map(({ id, app, title, state }) => (
        <li key={id}>
          <button
            type="button"
            onClick={() => open({ app })}
            className="flex w-full items-center gap-1.5 rounded-md px-2 py-1.5 pointer-coarse:min-h-11 text-left text-quiet text-sm hover:bg-line/60 hover:text-ink"
          >
            <Database size={13} aria-hidden="true" className="shrink-0 text-faint" />
            <span className="min-w-0 flex-1 truncate">{escapeBidi(title)}</span>
            <span className={state === "failed" ? "text-bad text-xs" : "text-faint text-xs"}>
              {labels[state]}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

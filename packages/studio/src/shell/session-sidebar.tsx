import type { AboutAgent, SessionListItem } from "capstan/client";
import {
  Activity,
  Bot,
  Brain,
  CalendarClock,
  CornerDownRight,
  Database,
  FlaskConical,
  History,
  MessageSquarePlus,
  Plug,
  Settings,
  ShieldCheck,
  Sparkles,
} from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { AgentPicture } from "../chat/agent-picture.tsx";
import { Conversation } from "../chat/lazy-conversation.ts";
import { useAbout } from "../data/about.ts";
import { parseAgentName } from "../data/agents.ts";
import { useNewChatPath } from "../data/current-agent.ts";
import { useSessionList } from "../data/session-list.ts";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { ErrorMessage, Loading } from "../ui/state.tsx";
import { AppList } from "./app-list.tsx";
import { groupSessions } from "./group-sessions.ts";
import { useLayout } from "./layout-state.ts";
import { buildFamilies, type SessionFamily } from "./session-families.ts";
import { SessionMenuButton } from "./session-menu-button.tsx";

const pages = [
  { path: "/sessions", label: "All sessions", Icon: History },
  { path: "/runs", label: "Runs", Icon: Activity },
  { path: "/schedules", label: "Schedules", Icon: CalendarClock },
  { path: "/agents", label: "Agents", Icon: Bot },
  { path: "/memory", label: "Memory", Icon: Brain },
  { path: "/datasets", label: "Datasets", Icon: Database },
  { path: "/experiments", label: "Experiments", Icon: FlaskConical },
  { path: "/mcp-servers", label: "MCP servers", Icon: Plug },
  { path: "/models", label: "Models", Icon: Sparkles },
  { path: "/admin", label: "Administration", Icon: ShieldCheck },
  { path: "/settings", label: "Settings", Icon: Settings },
] as const;

/** Pages for admins only. */
const adminPaths: readonly string[] = ["/datasets", "/experiments", "/admin"];

/** Closes the sidebar on a phone after a link is followed. */
function closeOnPhone(): void {
  if (!matchMedia("(min-width: 1024px)").matches) useLayout.getState().set({ isListOpen: false });
}

/** Apps, sessions and links to the other pages. */
export function SessionSidebar({ openId }: { readonly openId: string | undefined }): ReactNode {
  const { sessions, error, refresh } = useSessionList();
  // The open session reports its own state.
  const isWorking = sessions?.some(({ id, state }) => state === "active" && id !== openId) ?? false;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each list with a working session schedules the next
  useEffect(() => {
    if (!isWorking) return;
    const timer = setTimeout(() => void refresh(), refreshMs);
    return () => clearTimeout(timer);
  }, [sessions, isWorking, refresh]);
  const [currentPath] = useLocation();
  const newChatPath = useNewChatPath();
  const isAdmin = useAbout(({ about }) => about?.isAdmin === true);
  const families = new Map(buildFamilies(sessions ?? []).map((family) => [getNewest(family), family]));
  const groups = groupSessions([...families.keys()], new Date());
  return (
    <>
      <div className="flex items-center gap-2 px-3 pb-2 pt-3">
        <Link
          href="/"
          onClick={closeOnPhone}
          className="flex flex-1 items-center gap-2 px-1 font-semibold pointer-coarse:min-h-11"
        >
          <img src="/icon.svg" alt="" className="size-5" />
          Capstan
        </Link>
        <Link
          href={newChatPath}
          onClick={closeOnPhone}
          aria-label="New chat"
          title="New chat"
          className="inline-flex size-8 pointer-coarse:size-11 items-center justify-center rounded-md text-quiet hover:bg-line hover:text-ink"
        >
          <MessageSquarePlus size={17} />
        </Link>
      </div>
      <AppList onChoose={closeOnPhone} />
      <nav
        aria-label="Sessions"
        className="min-h-0 flex-1 overflow-y-auto px-2 pb-3 [scrollbar-gutter:stable]"
      >
        {error !== undefined && <ErrorMessage message={error} onRetry={() => void refresh()} />}
        {!sessions && error === undefined && <Loading label="Loading sessions" />}
        {sessions?.length === 0 && (
          <p className="px-2 py-6 text-sm text-quiet">Your sessions will appear here.</p>
        )}
        {groups.map(({ title, sessions: all }) => (
          <section key={title} className="mt-3">
            <h2 className="px-2 pb-1 text-xs font-medium text-faint">{title}</h2>
            <ul>
              {all.map((newest) => (
                <Family key={newest.id} family={families.get(newest)} openId={openId} />
              ))}
            </ul>
          </section>
        ))}
      </nav>
      {/* Two columns on a phone, where the links are higher: the sessions need the space. */}
      <nav aria-label="Pages" className="grid grid-cols-2 border-t p-2 lg:grid-cols-1">
        {pages
          .filter(({ path }) => !adminPaths.includes(path) || isAdmin)
          .map(({ path, label, Icon }) => (
            <Link
              key={path}
              href={path}
              onClick={closeOnPhone}
              aria-current={currentPath === path ? "page" : undefined}
              className="flex h-8 min-w-0 items-center gap-2 rounded-md px-1.5 lg:gap-2.5 lg:px-2 text-sm text-quiet pointer-coarse:h-11 hover:bg-line/60 hover:text-ink aria-[current=page]:bg-line aria-[current=page]:font-medium aria-[current=page]:text-ink"
            >
              <Icon size={15} aria-hidden="true" className="shrink-0" />
              <span className="truncate">{label}</span>
            </Link>
          ))}
      </nav>
    </>
  );
}

/** Between two looks at sessions that work in the background. */
const refreshMs = 5000;

/** The member that was used last; `updatedAt` tells the group of the family. */
function getNewest({ session, branches }: SessionFamily): SessionListItem {
  return [session, ...branches].reduce((newest, one) => (one.updatedAt > newest.updatedAt ? one : newest));
}

type FamilyProps = { readonly family: SessionFamily | undefined; readonly openId: string | undefined };

function Family({ family, openId }: FamilyProps): ReactNode {
  if (!family) return null;
  const { session, branches } = family;
  return (
    <>
      <SessionItem session={session} isOpen={session.id === openId} isBranch={false} />
      {branches.length > 0 && (
        <li>
          <ul aria-label={`Branches of ${escapeBidi(session.title)}`} className="ml-4 border-l pl-1">
            {branches.map((branch) => (
              <SessionItem key={branch.id} session={branch} isOpen={branch.id === openId} isBranch />
            ))}
          </ul>
        </li>
      )}
    </>
  );
}

type SessionItemProps = {
  readonly session: SessionListItem;
  readonly isOpen: boolean;
  readonly isBranch: boolean;
};

function SessionItem({ session, isOpen, isBranch }: SessionItemProps): ReactNode {
  const item = useRef<HTMLLIElement>(null);
  const agents = useAbout(({ about }) => about?.agents) ?? [];
  const app = findApp(session.agent, agents);
  useEffect(() => {
    if (isOpen) item.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen]);
  return (
    <li ref={item} className="group relative">
      <Link
        href={`/sessions/${encodeURIComponent(session.id)}`}
        onClick={closeOnPhone}
        onPointerEnter={Conversation.preload}
        aria-current={isOpen ? "page" : undefined}
        title={app && escapeBidi(app.title ?? app.name)}
        className={classNames(
          "flex min-h-8 items-center gap-2 rounded-md pr-8 pl-2 text-sm pointer-coarse:min-h-11 pointer-coarse:pr-11",
          isOpen ? "bg-line font-medium text-ink" : "text-quiet hover:bg-line/60 hover:text-ink",
        )}
      >
        {isBranch ? (
          <CornerDownRight size={13} aria-hidden="true" className="shrink-0 text-faint" />
        ) : (
          app && <AgentPicture name={app.picture} className="size-5 shrink-0 rounded" />
        )}
        <span className="truncate">{escapeBidi(session.title)}</span>
        <StateDot session={session} />
      </Link>
      <div className="absolute inset-y-0 right-0 flex items-center opacity-0 focus-within:opacity-100 group-hover:opacity-100 has-data-[state=open]:opacity-100 [@media(hover:none)]:opacity-100">
        <SessionMenuButton session={session} isOpen={isOpen} />
      </div>
    </li>
  );
}

/** The agent of a session; for one on own data, with the picture of its app. */
function findApp(name: string | undefined, agents: readonly AboutAgent[]): AboutAgent | undefined {
  const agent = name === undefined ? undefined : parseAgentName(name, agents).agent;
  const found = agents.find((one) => one.name === agent);
  const picture = found?.picture ?? agents.find((one) => one.name === found?.app)?.picture;
  return found && { ...found, ...(picture && { picture }) };
}

const states = {
  active: { label: "Working", look: "bg-accent animate-pulse motion-reduce:animate-none" },
  waiting: { label: "Waiting for you", look: "bg-warn" },
  failed: { label: "Failed", look: "bg-bad" },
} as const;

/** Shows that a session works, waits or has failed. A finished one needs no mark. */
function StateDot({ session }: { readonly session: SessionListItem }): ReactNode {
  const state = session.state === "ended" ? session.status : session.state;
  if (state !== "active" && state !== "waiting" && state !== "failed") return null;
  const { label, look } = states[state];
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      data-state={state}
      className={classNames("ml-auto size-2 shrink-0 rounded-full", look)}
    />
  );
}

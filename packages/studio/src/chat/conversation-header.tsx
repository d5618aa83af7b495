import type { WatchState } from "capstan/client";
import { Download, EllipsisVertical, History, PanelRight } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { useLayout } from "../shell/layout-state.ts";
import { SidebarToggle } from "../shell/sidebar-toggle.tsx";
import { IconButton } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { Menu } from "../ui/menu.tsx";

type ConversationHeaderProps = {
  readonly sessionId: string;
  readonly title: string;
  readonly agent: string | undefined;
  readonly state: WatchState;
};

/** Title, agent, connection status and session actions. */
export function ConversationHeader({ sessionId, title, agent, state }: ConversationHeaderProps): ReactNode {
  const { isInspectorOpen, set } = useLayout();
  const [, navigate] = useLocation();
  const path = `/sessions/${encodeURIComponent(sessionId)}`;
  const exportAs = (format: string) => open(`/api${path}/export?format=${format}`, "_self");
  return (
    <header className="flex h-12 shrink-0 items-center gap-1 border-b px-2 sm:px-3">
      <SidebarToggle />
      <div className="flex min-w-0 flex-1 items-baseline gap-2 px-1">
        <h1 className="truncate text-sm font-medium">{escapeBidi(title)}</h1>
        {agent !== undefined && <span className="shrink-0 text-xs text-faint">{escapeBidi(agent)}</span>}
      </div>
      <ConnectionDot state={state} />
      <Menu
        trigger={
          <IconButton label="Session actions">
            <EllipsisVertical size={16} />
          </IconButton>
        }
        items={[
          { label: "Replay", icon: <History size={14} />, onSelect: () => navigate(`${path}/replay`) },
          { label: "Export as Markdown", icon: <Download size={14} />, onSelect: () => exportAs("markdown") },
          { label: "Export as HTML", icon: <Download size={14} />, onSelect: () => exportAs("html") },
          { label: "Export as JSON", icon: <Download size={14} />, onSelect: () => exportAs("json") },
        ]}
      />
      <IconButton
        label={isInspectorOpen ? "Hide inspector" : "Show inspector"}
        isOn={isInspectorOpen}
        onClick={() => set({ isInspectorOpen: !isInspectorOpen })}
      >
        <PanelRight size={16} />
      </IconButton>
    </header>
  );
}

const stateLabels = {
  connecting: "Connecting",
  open: "Connected",
  lost: "Connection lost",
  ended: "Disconnected",
};

function ConnectionDot({ state }: { readonly state: WatchState }): ReactNode {
  const label = stateLabels[state.type];
  return (
    <span role="img" aria-label={label} title={label} className="flex size-8 items-center justify-center">
      <span
        className={classNames(
          "size-2 rounded-full",
          state.type === "open" && "bg-good",
          state.type === "connecting" && "bg-faint",
          (state.type === "lost" || state.type === "ended") && "bg-warn",
        )}
      />
    </span>
  );
}

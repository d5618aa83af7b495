import type { WatchState } from "capstan/client";
import { Download, EllipsisVertical, History, PanelLeft, PanelRight } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { steadyText } from "../markdown/visible-text.ts";
import { useLayout } from "../shell/layout-state.ts";
import { IconButton } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { Menu } from "../ui/menu.tsx";

type ConversationHeaderProps = {
  readonly sessionId: string;
  readonly title: string;
  readonly agent: string | undefined;
  readonly state: WatchState;
};

/** What this is, who answers, and what can be done with the whole of it. */
export function ConversationHeader({ sessionId, title, agent, state }: ConversationHeaderProps): ReactNode {
  const { isInspectorOpen, set } = useLayout();
  const [, go] = useLocation();
  const path = `/sessions/${encodeURIComponent(sessionId)}`;
  const save = (format: string) => open(`/api${path}/export?format=${format}`, "_self");
  return (
    <header className="flex h-12 shrink-0 items-center gap-1 border-b px-2 sm:px-3">
      <ListToggle />
      <div className="flex min-w-0 flex-1 items-baseline gap-2 px-1">
        <h1 className="truncate text-sm font-medium">{steadyText(title)}</h1>
        {agent !== undefined && <span className="shrink-0 text-xs text-faint">{steadyText(agent)}</span>}
      </div>
      <ConnectionDot state={state} />
      <Menu
        trigger={
          <IconButton label="More about this session">
            <EllipsisVertical size={16} />
          </IconButton>
        }
        items={[
          { label: "Replay", icon: <History size={14} />, onSelect: () => go(`${path}/replay`) },
          { label: "Export as Markdown", icon: <Download size={14} />, onSelect: () => save("markdown") },
          { label: "Export as HTML", icon: <Download size={14} />, onSelect: () => save("html") },
          { label: "Export as JSON", icon: <Download size={14} />, onSelect: () => save("json") },
        ]}
      />
      <IconButton
        label={isInspectorOpen ? "Hide the inspector" : "Show the inspector"}
        isOn={isInspectorOpen}
        onClick={() => set({ isInspectorOpen: !isInspectorOpen })}
      >
        <PanelRight size={16} />
      </IconButton>
    </header>
  );
}

/** Shows or hides the sessions. */
export function ListToggle(): ReactNode {
  const { isListOpen, set } = useLayout();
  return (
    <IconButton
      label={isListOpen ? "Hide the sessions" : "Show the sessions"}
      onClick={() => set({ isListOpen: !isListOpen })}
    >
      <PanelLeft size={16} />
    </IconButton>
  );
}

const words = {
  connecting: "Connecting",
  open: "Connected",
  lost: "Connection lost",
  ended: "Not connected",
};

function ConnectionDot({ state }: { readonly state: WatchState }): ReactNode {
  const label = words[state.type];
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

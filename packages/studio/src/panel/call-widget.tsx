import type { UiHint } from "capstan";
import { Map as MapIcon, PanelRightOpen, Waypoints } from "lucide-react";
import type { ReactNode } from "react";
import { useConversation } from "../chat/conversation-context.ts";
import { useLayout } from "../shell/layout-state.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { Widget } from "../widgets/widget.tsx";
import { useHasView, useIsWide, useShownView } from "./panel-state.ts";
import { isPanelView } from "./panel-views.ts";

/** The widget of a call, or a link to it when it is shown in the panel. */
export function CallWidget({ hint }: { readonly hint: UiHint }): ReactNode {
  const isWide = useIsWide();
  const hasView = useHasView();
  if (!isWide || !isPanelView(hint)) return <Widget hint={hint} />;
  if (hasView) return <ViewNote hint={hint} />;
  return (
    <div className="grid gap-2 [&>*]:my-0">
      <Widget hint={hint} />
      <ShowButton hint={hint} label="Show in panel" />
    </div>
  );
}

function ViewNote({ hint }: { readonly hint: UiHint }): ReactNode {
  const isNewest = useShownView() === hint;
  // An inspector tab may cover it.
  const isShown = useLayout(({ isInspectorOpen }) => !isInspectorOpen) && isNewest;
  const Icon = hint.kind === "map" ? MapIcon : Waypoints;
  const { title = hint.kind === "map" ? "Map" : "Graph" } = hint.props as { readonly title?: string };
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 rounded-lg border px-3 py-1 text-sm">
      <Icon size={15} aria-hidden="true" className="shrink-0 text-accent" />
      <span className="min-w-0 flex-1 truncate">
        {escapeBidi(title)}
        {isShown && <span className="text-quiet">, shown in panel</span>}
      </span>
      <ShowButton hint={hint} label={isShown ? "Go to panel" : "Show in panel"} />
    </div>
  );
}

function ShowButton({ hint, label }: { readonly hint: UiHint; readonly label: string }): ReactNode {
  const { showView } = useConversation();
  return (
    <button
      type="button"
      onClick={() => showView(hint)}
      className="inline-flex h-7 items-center gap-1.5 justify-self-start rounded-md px-2 font-medium text-small text-accent hover:bg-sunken"
    >
      <PanelRightOpen size={14} aria-hidden="true" />
      {label}
    </button>
  );
}

import { X } from "lucide-react";
import { Tabs } from "radix-ui";
import { type ReactNode, useCallback, useEffect, useMemo } from "react";
import { type OpenSession, useOpenSession } from "../data/open-session.ts";
import { setPanelOpen, useIsWide, useShownView } from "../panel/panel-state.ts";
import { ViewPanel } from "../panel/view-panel.tsx";
import { useLayout } from "../shell/layout-state.ts";
import { IconButton } from "../ui/button.tsx";
import { ErrorMessage, Loading } from "../ui/state.tsx";
import { EventsTab } from "./events-tab.tsx";
import { type InspectorFocus, useInspectorFocus } from "./focus.ts";
import { MessagesTab } from "./messages-tab.tsx";
import { PolicyTab } from "./policy-tab.tsx";
import { PromptTab } from "./prompt-tab.tsx";
import { ReasoningTab } from "./reasoning-tab.tsx";
import { RunMeter } from "./run-meter.tsx";
import { TimelineTab } from "./timeline/timeline-tab.tsx";

type Tab = InspectorFocus["tab"];
type TabDefinition = {
  readonly tab: Tab;
  readonly label: string;
  readonly Body: (props: { readonly session: OpenSession }) => ReactNode;
};

const tabs: readonly TabDefinition[] = [
  { tab: "timeline", label: "Timeline", Body: TimelineTab },
  { tab: "reasoning", label: "Reasoning", Body: ReasoningTab },
  { tab: "messages", label: "Messages", Body: MessagesTab },
  { tab: "prompt", label: "Prompt", Body: PromptTab },
  { tab: "events", label: "Events", Body: EventsTab },
  { tab: "policy", label: "Policy", Body: PolicyTab },
];

/** The panel view of a session and the inspector's six tabs. */
export function InspectorPanel({ sessionId }: { readonly sessionId: string }): ReactNode {
  const session = useSettledSession(useOpenSession(sessionId));
  const tab = useTab();
  const title = tab.shown === "view" ? "View" : "Inspector";
  const error = session?.state.type === "ended" ? session.state.error : undefined;
  useResetFocus(sessionId);
  const { shown, hasView, choose } = tab;
  const views = useMemo(
    () => session && <Views session={session} shown={shown} hasView={hasView} onChoose={choose} />,
    [session, shown, hasView, choose],
  );
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex h-12 shrink-0 items-center gap-2 pl-4 pr-2">
        <h2 className="flex-1 text-sm font-semibold">{title}</h2>
        <IconButton label={`Close ${title.toLowerCase()}`} onClick={tab.close}>
          <X size={16} />
        </IconButton>
      </div>
      {!session && <Loading />}
      {error && session?.facts.length === 0 && <ErrorMessage message={error.message} />}
      {views}
    </div>
  );
}

/** Stable until a fact arrives: the inspector ignores live output. */
function useSettledSession(session: OpenSession | undefined): OpenSession | undefined {
  const { facts, view, state } = session ?? {};
  // biome-ignore lint/correctness/useExhaustiveDependencies: only these change when a fact arrives
  return useMemo(() => session, [facts, view?.seq, view?.status, state?.type]);
}

let pendingReset: { readonly sessionId: string; readonly timer: ReturnType<typeof setTimeout> } | undefined;

/** Resets the focus when another session is shown. */
function useResetFocus(sessionId: string): void {
  useEffect(() => {
    // Remounted immediately: keep the focus.
    if (pendingReset?.sessionId === sessionId) clearTimeout(pendingReset.timer);
    return () => {
      const timer = setTimeout(() => useInspectorFocus.getState().set({ factSeq: undefined }));
      pendingReset = { sessionId, timer };
    };
  }, [sessionId]);
}

type ShownTab = Tab | "view";

type TabState = {
  readonly shown: ShownTab;
  readonly hasView: boolean;
  readonly choose: (tab: ShownTab) => void;
  readonly close: () => void;
};

/** Shows the view while the inspector is closed. */
function useTab(): TabState {
  const { tab, set } = useInspectorFocus();
  const { isInspectorOpen, set: setLayout } = useLayout();
  const isWide = useIsWide();
  const hasView = useShownView() !== undefined && isWide;
  const choose = useCallback(
    (next: ShownTab) => {
      setLayout({ isInspectorOpen: next !== "view" });
      if (next === "view") setPanelOpen(true);
      else set({ tab: next });
    },
    [set, setLayout],
  );
  function close(): void {
    setLayout({ isInspectorOpen: false });
    if (hasView) setPanelOpen(false);
  }
  return { shown: hasView && !isInspectorOpen ? "view" : tab, hasView, choose, close };
}

type ViewsProps = Pick<TabState, "shown" | "hasView"> & {
  readonly session: OpenSession;
  readonly onChoose: (tab: ShownTab) => void;
};

function Views({ session, shown, hasView, onChoose }: ViewsProps): ReactNode {
  return (
    <>
      {shown !== "view" && <RunMeter session={session} />}
      <Tabs.Root
        value={shown}
        onValueChange={(value) => onChoose(value as ShownTab)}
        className="flex min-h-0 flex-1 flex-col"
      >
        <Tabs.List
          aria-label="Views"
          className="flex shrink-0 overflow-x-auto border-b px-2 pb-px [scrollbar-width:none]"
        >
          {hasView && <TabTrigger tab="view" label="View" />}
          {tabs.map(({ tab, label }) => (
            <TabTrigger key={tab} tab={tab} label={label} />
          ))}
        </Tabs.List>
        {hasView && (
          <TabBody tab="view">
            <ViewPanel />
          </TabBody>
        )}
        {tabs.map(({ tab, Body }) => (
          <TabBody key={tab} tab={tab}>
            <Body session={session} />
          </TabBody>
        ))}
      </Tabs.Root>
    </>
  );
}

function TabTrigger({ tab, label }: { readonly tab: ShownTab; readonly label: string }): ReactNode {
  return (
    <Tabs.Trigger
      value={tab}
      className="-mb-px border-b-2 border-transparent shrink-0 -outline-offset-2 px-1.5 py-2 pointer-coarse:min-h-11 pointer-coarse:min-w-11 text-small text-quiet transition-colors hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
    >
      {label}
    </Tabs.Trigger>
  );
}

function TabBody({ tab, children }: { readonly tab: ShownTab; readonly children: ReactNode }): ReactNode {
  return (
    <Tabs.Content
      value={tab}
      tabIndex={-1}
      className="min-h-0 flex-1 flex-col outline-none data-[state=active]:flex"
    >
      {children}
    </Tabs.Content>
  );
}

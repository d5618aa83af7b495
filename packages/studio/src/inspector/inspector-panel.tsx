import { X } from "lucide-react";
import { Tabs } from "radix-ui";
import { type ReactNode, useEffect, useMemo } from "react";
import { type OpenSession, useOpenSession } from "../connection/open-session.ts";
import { IconButton } from "../look/button.tsx";
import { Failure, Loading } from "../look/state.tsx";
import { useLayout } from "../shell/layout-state.ts";
import { EventsTab } from "./events-tab.tsx";
import { type InspectorFocus, useInspectorFocus } from "./focus.ts";
import { MessagesTab } from "./messages-tab.tsx";
import { PolicyTab } from "./policy-tab.tsx";
import { PromptTab } from "./prompt-tab.tsx";
import { RunMeter } from "./run-meter.tsx";
import { TimelineTab } from "./timeline-tab.tsx";

type Tab = InspectorFocus["tab"];
type TabOf = {
  readonly tab: Tab;
  readonly label: string;
  readonly Body: (props: { readonly session: OpenSession }) => ReactNode;
};

const tabs: readonly TabOf[] = [
  { tab: "timeline", label: "Timeline", Body: TimelineTab },
  { tab: "messages", label: "Messages", Body: MessagesTab },
  { tab: "prompt", label: "Prompt", Body: PromptTab },
  { tab: "events", label: "Events", Body: EventsTab },
  { tab: "policy", label: "Policy", Body: PolicyTab },
];

/** The five ways to look into a session. */
export function InspectorPanel({ sessionId }: { readonly sessionId: string }): ReactNode {
  const session = useSettled(useOpenSession(sessionId));
  const setLayout = useLayout((layout) => layout.set);
  const error = session?.state.type === "ended" ? session.state.error : undefined;
  useForgottenFocus(sessionId);
  const views = useMemo(() => session && <Views session={session} />, [session]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex h-12 shrink-0 items-center gap-2 pl-4 pr-2">
        <h2 className="flex-1 text-sm font-semibold">Inspector</h2>
        <IconButton label="Close the inspector" onClick={() => setLayout({ isInspectorOpen: false })}>
          <X size={16} />
        </IconButton>
      </div>
      {!session && <Loading />}
      {error && session?.facts.length === 0 && <Failure message={error.message} />}
      {views}
    </div>
  );
}

/** The same until a fact has come: what is being said at this moment is not for the inspector. */
function useSettled(session: OpenSession | undefined): OpenSession | undefined {
  const { facts, view, state } = session ?? {};
  // biome-ignore lint/correctness/useExhaustiveDependencies: only these say that something has settled
  return useMemo(() => session, [facts, view?.seq, view?.status, state?.type]);
}

let leaving: { readonly sessionId: string; readonly timer: ReturnType<typeof setTimeout> } | undefined;

/** What was looked at in one session is nothing in another. */
function useForgottenFocus(sessionId: string): void {
  useEffect(() => {
    // Opened again at once: nobody has left.
    if (leaving?.sessionId === sessionId) clearTimeout(leaving.timer);
    return () => {
      const timer = setTimeout(() => useInspectorFocus.getState().set({ factSeq: undefined }));
      leaving = { sessionId, timer };
    };
  }, [sessionId]);
}

function Views({ session }: { readonly session: OpenSession }): ReactNode {
  const { tab, set } = useInspectorFocus();
  return (
    <>
      <RunMeter session={session} />
      <Tabs.Root
        value={tab}
        onValueChange={(value) => set({ tab: value as Tab })}
        className="flex min-h-0 flex-1 flex-col"
      >
        <Tabs.List aria-label="Views" className="flex shrink-0 gap-0.5 border-b px-2">
          {tabs.map((one) => (
            <Tabs.Trigger
              key={one.tab}
              value={one.tab}
              className="-mb-px border-b-2 border-transparent -outline-offset-2 px-2 py-2 text-[0.8125rem] text-quiet transition-colors hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
            >
              {one.label}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {tabs.map(({ tab: name, Body }) => (
          <Tabs.Content
            key={name}
            value={name}
            tabIndex={-1}
            className="min-h-0 flex-1 flex-col outline-none data-[state=active]:flex"
          >
            <Body session={session} />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </>
  );
}

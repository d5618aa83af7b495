import { type ReactNode, useEffect } from "react";
import { useRoute } from "wouter";
import { useAbout } from "../data/about.ts";
import { useDeletedSessions } from "../data/open-session.ts";
import { useSessionList } from "../data/session-list.ts";
import { useOwnData } from "../own-data/own-data-state.ts";
import { PageDrop } from "../own-data/page-drop.tsx";
import { lazy } from "../ui/lazy.tsx";
import { Dialogs } from "./dialogs.tsx";
import { Layout } from "./layout.tsx";
import { SessionSidebar } from "./session-sidebar.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { Toasts } from "./toasts.tsx";

/** Frame of every page: sidebar, inspector, palette and shortcuts. */
export function Shell({ children }: { readonly children: ReactNode }): ReactNode {
  const refresh = useSessionList((list) => list.refresh);
  const refreshAbout = useAbout((state) => state.refresh);
  const [isSession, params] = useRoute("/sessions/:id");
  const isDeleted = useDeletedSessions(({ ids }) => ids.includes(params?.id ?? ""));
  useShortcuts();
  // The start page loads this itself.
  useEffect(() => {
    if (location.pathname !== "/") void refreshAbout();
  }, [refreshAbout]);
  useEffect(() => {
    const { refresh: refreshOwnData } = useOwnData.getState();
    const onFocus = () => void Promise.all([refresh(), refreshOwnData()]);
    onFocus();
    addEventListener("focus", onFocus);
    return () => removeEventListener("focus", onFocus);
  }, [refresh]);
  return (
    <>
      <Layout
        list={<SessionSidebar openId={params?.id} />}
        inspector={
          isSession && params && !isDeleted ? <Inspector key={params.id} sessionId={params.id} /> : undefined
        }
      >
        {children}
      </Layout>
      <Dialogs />
      <PageDrop />
      <Toasts />
    </>
  );
}

const Inspector = lazy(async () => ({
  default: (await import("../inspector/inspector.tsx")).InspectorPanel,
}));

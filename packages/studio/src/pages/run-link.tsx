import { type ReactNode, useEffect } from "react";
import { Link, useLocation } from "wouter";
import { client } from "../data/client.ts";
import { useRequest } from "../data/use-request.ts";
import { useInspectorFocus } from "../inspector/focus.ts";
import { SidebarToggle } from "../shell/sidebar-toggle.tsx";
import { EmptyState, Loading } from "../ui/state.tsx";

/** Opens the session of a run where the run starts: the target of a shared link. */
export function RunLink({ runId }: { readonly runId: string }): ReactNode {
  const { value, error } = useRequest(`run ${runId}`, () => findRunStart(runId));
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!value) return;
    const { seq } = value;
    if (seq !== undefined) useInspectorFocus.getState().set({ factSeq: seq, inChat: { factSeq: seq } });
    navigate(`/sessions/${encodeURIComponent(value.sessionId)}`, { replace: true });
  }, [value, navigate]);
  if (error === undefined) return <Loading label="Opening the run" />;
  // The server answers the same for another user's run and for a missing one.
  return (
    <>
      <header className="flex h-12 shrink-0 items-center gap-1 px-2 sm:px-3">
        <SidebarToggle />
      </header>
      <EmptyState
        title="Run not found, or no access"
        action={
          <Link href="/" className="text-sm font-medium text-accent underline underline-offset-4">
            Start a new chat
          </Link>
        }
      >
        It may have been deleted, the link may be wrong, or it belongs to another user. Ask its sender for an
        export of the session.
      </EmptyState>
    </>
  );
}

type FoundRun = { readonly sessionId: string; readonly seq?: number };

/** Returns the session of a run and the position of its first fact, which a queued run does not have. */
async function findRunStart(runId: string): Promise<FoundRun> {
  const { sessionId, state } = await client.runs.get(runId);
  if (state === "queued") return { sessionId };
  for await (const event of client.runs.events(runId))
    if ("seq" in event) return { sessionId, seq: event.seq };
  return { sessionId };
}

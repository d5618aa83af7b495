import type { ViewEvent } from "capstan/client";
import { type ReactNode, useEffect, useState } from "react";
import { VList } from "virtua";
import { client } from "../data/client.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { EmptyState, ErrorMessage } from "../ui/state.tsx";
import { RawJson } from "./raw-json.tsx";

type ViewEventsProps = { readonly sessionId: string; readonly view: string };

/** The events of a session in one of the server's views. */
export function ViewEvents({ sessionId, view }: ViewEventsProps): ReactNode {
  const { events, error } = useViewEvents(sessionId, view);
  if (error !== undefined) return <ErrorMessage message={error} />;
  return <ViewEventList events={events} />;
}

export function ViewEventList({ events }: { readonly events: readonly ViewEvent[] }): ReactNode {
  if (events.length === 0)
    return <EmptyState title="No events yet">This view has no events of this session.</EmptyState>;
  return (
    <>
      <div className="flex shrink-0 items-center justify-end px-4">
        <CopyButton label="Copy events" text={() => JSON.stringify(events, undefined, 2)} />
      </div>
      <VList data={events} itemSize={30} className="min-h-0 flex-1 [scrollbar-gutter:stable]">
        {(event, index) => <ViewEventLine key={event.id ?? `#${index}`} viewEvent={event} />}
      </VList>
    </>
  );
}

function ViewEventLine({ viewEvent: { event, data } }: { readonly viewEvent: ViewEvent }): ReactNode {
  return (
    <details className="px-4 text-xs" data-view-event={event}>
      <summary className="flex h-7.5 cursor-default items-center gap-2">
        <span className="shrink-0 font-mono">{escapeBidi(event)}</span>
        <span className="min-w-0 flex-1 truncate text-quiet">
          {escapeBidi(JSON.stringify(data).slice(0, 160))}
        </span>
      </summary>
      <RawJson label={event} value={data} />
    </details>
  );
}

type ViewState = { readonly events: readonly ViewEvent[]; readonly error?: string };

const renderIntervalMs = 50;

/** Follows a view while the component is mounted. */
function useViewEvents(sessionId: string, view: string): ViewState {
  const [state, setState] = useState<ViewState>({ events: [] });
  useEffect(() => {
    const stop = new AbortController();
    const events: ViewEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function follow(): Promise<void> {
      const options = { stream: "per-turn", signal: stop.signal } as const;
      for await (const event of client.sessions.viewEvents(sessionId, view, options)) {
        events.push(event);
        timer ??= setTimeout(() => {
          timer = undefined;
          setState({ events: [...events] });
        }, renderIntervalMs);
      }
    }
    setState({ events: [] });
    follow().catch((error: unknown) =>
      setState({ events, error: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [sessionId, view]);
  return state;
}

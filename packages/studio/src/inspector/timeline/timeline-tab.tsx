import { GitCompareArrows, History, Table2 } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";
import type { OpenSession } from "../../data/open-session.ts";
import { useLayout } from "../../shell/layout-state.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { SelectField } from "../../ui/select-field.tsx";
import { EmptyState } from "../../ui/state.tsx";
import { useInspectorFocus } from "../focus.ts";
import { buildTimeline } from "./build-timeline.ts";
import type { TimelineBar } from "./timeline.ts";
import { TimelineChart } from "./timeline-chart.tsx";
import { buildRows } from "./timeline-rows.ts";
import { TimelineTable } from "./timeline-table.tsx";

const scales = [
  { value: "run", label: "Scale per run" },
  { value: "turn", label: "Scale per turn" },
] as const;

/** Timeline of the session, linked to the chat. */
export function TimelineTab({ session }: { readonly session: OpenSession }): ReactNode {
  const [isTable, setTable] = useState(false);
  const [scale, setScale] = useState<"run" | "turn">("run");
  const { factSeq, set } = useInspectorFocus();
  const timeline = buildTimeline(session.facts);
  const now = useNow(session.view.status === "running");
  if (timeline.runs.length === 0)
    return <EmptyState title="No runs yet">Send a message to see its timeline.</EmptyState>;
  function select({ seq }: TimelineBar): void {
    set({ factSeq: seq, inChat: { factSeq: seq } });
  }
  const [left, right] = timeline.runs.slice(-2);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex min-h-10 shrink-0 items-center gap-1 py-1 pl-4 pr-2">
        <SelectField
          label="Scale"
          value={scale}
          choices={scales}
          onChange={(value) => setScale(value === "turn" ? "turn" : "run")}
        />
        <IconButton
          label="Show as table"
          isOn={isTable}
          className="ml-auto"
          onClick={() => setTable(!isTable)}
        >
          <Table2 size={15} />
        </IconButton>
        {left && right && (
          <IconLink label="Compare last two runs" href={`/compare/${left.runId}/${right.runId}`}>
            <GitCompareArrows size={15} />
          </IconLink>
        )}
        <IconLink label="Replay session" href={`/sessions/${encodeURIComponent(session.id)}/replay`}>
          <History size={15} />
        </IconLink>
      </div>
      {isTable ? (
        <TimelineTable rows={buildRows(timeline)} now={now} onSelect={select} />
      ) : (
        <TimelineChart
          timeline={timeline}
          version={session.view.seq}
          now={now}
          scale={scale}
          factSeq={factSeq}
          onSelect={select}
          actions={(bar) => <BarActions bar={bar} />}
        />
      )}
    </div>
  );
}

function BarActions({ bar }: { readonly bar: TimelineBar }): ReactNode {
  const { set } = useInspectorFocus();
  const { set: setLayout } = useLayout();
  return (
    <>
      <Button
        kind="quiet"
        size="small"
        onClick={() => {
          set({ factSeq: bar.seq, inChat: { factSeq: bar.seq } });
          // On small screens the inspector covers the chat.
          if (!matchMedia("(min-width: 1280px)").matches) setLayout({ isInspectorOpen: false });
        }}
      >
        Show in chat
      </Button>
      <Button kind="quiet" size="small" onClick={() => set({ factSeq: bar.seq, tab: "events" })}>
        Event
      </Button>
      {bar.kind === "model" && (
        <Button kind="quiet" size="small" onClick={() => set({ factSeq: bar.seq, tab: "prompt" })}>
          Prompt
        </Button>
      )}
    </>
  );
}

type IconLinkProps = { readonly label: string; readonly href: string; readonly children: ReactNode };

function IconLink({ label, href, children }: IconLinkProps): ReactNode {
  return (
    <Link
      href={href}
      aria-label={label}
      title={label}
      className="inline-flex size-8 pointer-coarse:size-11 shrink-0 items-center justify-center rounded-md text-quiet transition-colors hover:bg-sunken hover:text-ink"
    >
      {children}
    </Link>
  );
}

const tickMs = 500;

/** Returns the current time, updated while active. */
function useNow(isOn: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, [isOn]);
  return now;
}

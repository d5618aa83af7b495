import type { SessionView } from "capstan/client";
import { Bot, GanttChart } from "lucide-react";
import type { ReactNode } from "react";
import { client } from "../../data/client.ts";
import { runWithToast } from "../../shell/toasts.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { useConversation } from "../conversation-context.ts";

const statuses = {
  idle: { label: "Starting", look: "text-quiet" },
  running: { label: "Working in the background", look: "text-accent" },
  waiting: { label: "Waiting for you, in the background", look: "text-warn" },
  done: { label: "Background work is done", look: "text-good" },
  limit: { label: "Background work stopped at a limit", look: "text-warn" },
  failed: { label: "Background work failed", look: "text-bad" },
  cancelled: { label: "Background work was cancelled", look: "text-faint" },
} as const satisfies Record<SessionView["status"], object>;

type BackgroundBarProps = {
  /** The nested run. */
  readonly view: SessionView;
  readonly callId: string;
  /** The run whose call started it. Absent where it cannot be cancelled alone. */
  readonly runId?: string | undefined;
};

/** The status of background work, with what the user can do about it. */
export function BackgroundBar({ view, callId, runId }: BackgroundBarProps): ReactNode {
  const { showFact } = useConversation();
  const { label, look } = statuses[view.status];
  const start = view.runs.get(view.runId ?? "")?.start;
  const isOpen = view.status === "running" || view.status === "waiting";
  return (
    <div data-background={view.status} className="flex min-h-9 flex-wrap items-center gap-2 pb-1 text-xs">
      <Bot size={14} aria-hidden="true" className={classNames("shrink-0", look)} />
      <span role="status" className={classNames("font-medium", look)}>
        {label}
      </span>
      {isOpen && view.turn > 0 && <span className="text-quiet tabular-nums">Turn {view.turn}</span>}
      <span className="ml-auto flex items-center gap-1">
        {start && (
          <IconButton label="Show its run in the timeline" onClick={() => showFact(start.seq)}>
            <GanttChart size={14} />
          </IconButton>
        )}
        {isOpen && runId !== undefined && (
          <Button
            size="small"
            onClick={() => runWithToast(() => client.runs.cancelBackground(runId, callId))}
          >
            Cancel
          </Button>
        )}
      </span>
    </div>
  );
}

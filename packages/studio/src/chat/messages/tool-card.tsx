import type { Json } from "capstan";
import type { CallView } from "capstan/client";
import {
  Ban,
  Check,
  ChevronRight,
  CircleDashed,
  CirclePause,
  GanttChart,
  LoaderCircle,
  TriangleAlert,
  Unplug,
} from "lucide-react";
import { memo, type NamedExoticComponent, type ReactNode } from "react";
import { steadyText } from "../../markdown/visible-text.ts";
import { CallWidget } from "../../panel/call-widget.tsx";
import { IconButton } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { spanOf } from "../../ui/format-duration.ts";
import { contentText, JsonText, prettyText } from "../../ui/json-text.tsx";
import { useConversation } from "../conversation-context.ts";
import { useFold } from "./use-fold.ts";

/** How a call stands. `writing`: the model is still saying its arguments. */
export type CallState = CallView["state"] | "writing";

const states = {
  writing: { label: "Preparing", Icon: LoaderCircle, look: "text-quiet", isBusy: true },
  said: { label: "Next", Icon: CircleDashed, look: "text-faint", isBusy: false },
  asking: { label: "Waiting for you", Icon: CirclePause, look: "text-warn", isBusy: false },
  running: { label: "Running", Icon: LoaderCircle, look: "text-accent", isBusy: true },
  ok: { label: "Done", Icon: Check, look: "text-good", isBusy: false },
  error: { label: "Failed", Icon: TriangleAlert, look: "text-bad", isBusy: false },
  denied: { label: "Denied", Icon: Ban, look: "text-warn", isBusy: false },
  skipped: { label: "Skipped", Icon: Ban, look: "text-faint", isBusy: false },
  interrupted: { label: "Interrupted", Icon: Unplug, look: "text-warn", isBusy: false },
} as const;

type ToolCardProps = {
  readonly call: CallView;
  readonly progress?: Json | undefined;
  /** What an agent did inside. */
  readonly nested?: ReactNode;
};

/** A call of a tool: one line, and everything about it when it is opened. */
export const ToolCard: NamedExoticComponent<ToolCardProps> = memo(function ToolCard({
  call,
  progress,
  nested,
}: ToolCardProps): ReactNode {
  const [isOpen, setOpen] = useFold(`call ${call.id}`, false);
  return (
    <div data-call={call.id} data-state={call.state}>
      <CallLine call={call} progress={progress} isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
      {isOpen && <CallDetails call={call} />}
      {nested && <div className="px-3 pb-3 pl-9">{nested}</div>}
      {call.ui && (
        <div className="px-3 pb-3 [&>*]:my-0">
          <CallWidget hint={call.ui} />
        </div>
      )}
    </div>
  );
});

type CallLineProps = {
  readonly call: Pick<CallView, "name" | "input" | "ms" | "message" | "error"> & {
    readonly state: CallState;
  };
  readonly progress?: Json | undefined;
  readonly isOpen: boolean;
  readonly onToggle?: () => void;
};

/** The one line of a call. */
export function CallLine({ call, progress, isOpen, onToggle }: CallLineProps): ReactNode {
  const { label, Icon, look, isBusy } = states[call.state];
  const isEnded = call.state !== "writing" && call.state !== "said" && !isBusy && call.state !== "asking";
  const said = call.error?.message ?? call.message;
  const about = isEnded && said ? said : inputLine(call.input);
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      disabled={!onToggle}
      onClick={onToggle}
      className="flex min-h-9 w-full min-w-0 items-center gap-2 rounded-lg px-3 py-1.5 text-left text-sm hover:bg-sunken disabled:hover:bg-transparent"
    >
      <Icon
        size={15}
        aria-hidden="true"
        className={classNames("shrink-0", look, isBusy && "animate-spin motion-reduce:animate-none")}
      />
      <span className="shrink-0 font-medium">{steadyText(call.name) || "…"}</span>
      <span className="min-w-0 flex-1 truncate text-quiet">{steadyText(about)}</span>
      <span className={classNames("shrink-0 text-xs tabular-nums", isEnded ? "text-faint" : look)}>
        {stateText(call, label, progress)}
      </span>
      {onToggle && (
        <ChevronRight
          size={14}
          aria-hidden="true"
          className={classNames(
            "shrink-0 text-faint transition-transform duration-100",
            isOpen && "rotate-90",
          )}
        />
      )}
    </button>
  );
}

function stateText({ state, ms }: CallLineProps["call"], label: string, progress: Json | undefined): string {
  if (progress !== undefined) return progressText(progress);
  if (state === "ok") return ms === undefined ? "" : spanOf(ms);
  return label;
}

/** How far it is: a sentence, a share, or something of the tool's own. */
function progressText(progress: Json): string {
  if (typeof progress === "string") return steadyText(progress.slice(0, 80));
  if (typeof progress === "number") return `${Math.round(progress <= 1 ? progress * 100 : progress)} %`;
  const { message, progress: done, total } = Object(progress) as Record<string, unknown>;
  if (typeof message === "string") return steadyText(message.slice(0, 80));
  if (typeof done === "number" && typeof total === "number") return `${done} of ${total}`;
  return "Running";
}

/** The arguments in a line: of one alone its value. */
function inputLine(input: Json): string {
  if (typeof input === "string") return input.slice(-200);
  const entries = Object.entries(Object(input) as Record<string, Json>);
  const [only] = entries;
  const said = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));
  if (only && entries.length === 1) return said(only[1]).slice(0, 200);
  return entries
    .map(([name, value]) => `${name}: ${said(value)}`)
    .join(", ")
    .slice(0, 200);
}

function CallDetails({ call }: { readonly call: CallView }): ReactNode {
  const { index, showFact } = useConversation();
  const seq = index().callStarts.get(call.id)?.seq;
  return (
    <div className="grid gap-2 px-3 pb-3 pl-9">
      <JsonText label="Arguments" text={prettyText(call.input)} />
      {call.error && (
        <p className="text-sm text-bad [overflow-wrap:anywhere]">{steadyText(call.error.message)}</p>
      )}
      {call.result !== undefined && <JsonText label="Result" text={contentText(call.result)} />}
      {call.data !== undefined && call.data !== call.result && (
        <JsonText label="Data" text={prettyText(call.data)} />
      )}
      {seq !== undefined && (
        <div className="flex items-center gap-1 text-xs text-quiet">
          <IconButton label="Show in the timeline" className="size-7!" onClick={() => showFact(seq)}>
            <GanttChart size={14} />
          </IconButton>
          {call.ms !== undefined && <span className="tabular-nums">Took {spanOf(call.ms)}</span>}
        </div>
      )}
    </div>
  );
}

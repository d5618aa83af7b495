import type { Json } from "capstan";
import type { CallView, LiveView } from "capstan/client";
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
import { CodeBlock } from "../../markdown/code-block.tsx";
import { CallWidget } from "../../panel/call-widget.tsx";
import { IconButton } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { escapeBidi } from "../../ui/escape-text.ts";
import { formatDuration } from "../../ui/format-duration.ts";
import { formatJsonText, formatResultContent, JsonText } from "../../ui/json-text.tsx";
import { lazy } from "../../ui/lazy.tsx";
import { Loading } from "../../ui/state.tsx";
import { useConversation } from "../conversation-context.ts";
import { useFold } from "./use-fold.ts";

/** The kind of the UI hint of a result that an MCP App shows. */
const appHintKind = "mcp_app";
const AppFrame = lazy(
  async () => ({ default: (await import("../../apps/app-frame.tsx")).AppFrame }),
  <Loading label="Loading app" />,
);

/** State of a call. `writing`: the model is still streaming the arguments. */
export type CallState = CallView["state"] | "writing";

const states = {
  writing: { label: "Preparing", Icon: LoaderCircle, look: "text-quiet", isBusy: true },
  said: { label: "Queued", Icon: CircleDashed, look: "text-faint", isBusy: false },
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
  /** Turns of a nested run. */
  readonly nested?: ReactNode;
  /** An MCP App made the call, and shows the result itself. */
  readonly isOfApp?: boolean | undefined;
};

/** A tool call: one line that expands to the details. */
export const ToolCard: NamedExoticComponent<ToolCardProps> = memo(function ToolCard({
  call,
  progress,
  nested,
  isOfApp = false,
}: ToolCardProps): ReactNode {
  const [isOpen, setOpen] = useFold(`call ${call.id}`, false);
  return (
    <div data-call={call.id} data-state={call.state}>
      <CallLine call={call} progress={progress} isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
      {isOpen && (
        <CallDetails call={call} program={nested === undefined ? undefined : findProgramText(call.input)} />
      )}
      {nested && <div className="px-3 pb-3 pl-9">{nested}</div>}
      {call.ui && !isOfApp && (
        <div className="px-3 pb-3 [&>*]:my-0">
          {call.ui.kind === appHintKind ? <AppFrame call={call} /> : <CallWidget hint={call.ui} />}
        </div>
      )}
    </div>
  );
});

type CallLineProps = {
  readonly call: Pick<CallView, "name" | "input" | "ms" | "message" | "error" | "hosted" | "isEdited"> & {
    readonly state: CallState;
  };
  readonly progress?: Json | undefined;
  readonly isOpen: boolean;
  readonly onToggle?: () => void;
};

export function CallLine({ call, progress, isOpen, onToggle }: CallLineProps): ReactNode {
  const { label, Icon, look, isBusy } = states[call.state];
  const isSettled = call.state !== "writing" && call.state !== "said" && !isBusy && call.state !== "asking";
  const outcome = call.error?.message ?? call.message;
  const summary = isSettled && outcome ? outcome : formatInput(call.input);
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      disabled={!onToggle}
      onClick={onToggle}
      className="flex min-h-9 pointer-coarse:min-h-11 w-full min-w-0 items-center gap-2 rounded-lg px-3 py-1.5 text-left text-sm hover:bg-sunken disabled:hover:bg-transparent"
    >
      <Icon
        size={15}
        aria-hidden="true"
        className={classNames("shrink-0", look, isBusy && "animate-spin motion-reduce:animate-none")}
      />
      <span className="shrink-0 font-medium">{escapeBidi(call.name) || "…"}</span>
      {call.isEdited && (
        <span
          className="shrink-0 text-accent text-xs"
          title="You changed the arguments before you allowed it"
        >
          edited by you
        </span>
      )}
      {call.hosted && (
        <span className="shrink-0 text-faint text-xs" title="Executed by the model's provider">
          hosted
        </span>
      )}
      <span className="min-w-0 flex-1 truncate text-quiet">{escapeBidi(summary)}</span>
      <span className={classNames("shrink-0 text-xs tabular-nums", isSettled ? "text-faint" : look)}>
        {formatState(call, label, progress)}
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

/** Calls whose arguments the model is writing. */
export function WritingCalls({ calls }: Pick<LiveView, "calls">): ReactNode {
  if (calls.length === 0) return null;
  return (
    <div className="divide-y rounded-lg border bg-raised">
      {calls.map(({ id, name, arguments: input }) => (
        <CallLine key={id} isOpen={false} call={{ name, input, state: "writing" }} />
      ))}
    </div>
  );
}

function formatState(
  { state, ms }: CallLineProps["call"],
  label: string,
  progress: Json | undefined,
): string {
  if (progress !== undefined) return formatToolProgress(progress);
  if (state === "ok") return ms === undefined ? "" : formatDuration(ms);
  return label;
}

/** Formats progress: a message, a share, or a custom value. */
function formatToolProgress(progress: Json): string {
  if (typeof progress === "string") return escapeBidi(progress.slice(0, 80));
  if (typeof progress === "number") return `${Math.round(progress <= 1 ? progress * 100 : progress)} %`;
  const { message, progress: done, total } = Object(progress) as Record<string, unknown>;
  if (typeof message === "string") return escapeBidi(message.slice(0, 80));
  if (typeof done === "number" && typeof total === "number") return `${done} of ${total}`;
  return "Running";
}

/** Formats the arguments in one line. A single argument shows only its value. */
function formatInput(input: Json): string {
  if (typeof input === "string") return input.slice(-200);
  const entries = Object.entries(Object(input) as Record<string, Json>);
  const [only] = entries;
  const formatValue = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));
  if (only && entries.length === 1) return formatValue(only[1]).slice(0, 200);
  return entries
    .map(([name, value]) => `${name}: ${formatValue(value)}`)
    .join(", ")
    .slice(0, 200);
}

/** Returns the program of a call in code mode, whose nested run makes the calls of the program. */
function findProgramText(input: Json): string | undefined {
  const { code, ...others } = Object(input) as Record<string, unknown>;
  return typeof code === "string" && Object.keys(others).length === 0 ? code : undefined;
}

type CallDetailsProps = { readonly call: CallView; readonly program: string | undefined };

function CallDetails({ call, program }: CallDetailsProps): ReactNode {
  const { showFact } = useConversation();
  const { seq } = call;
  return (
    <div className="grid gap-2 px-3 pb-3 pl-9">
      {program === undefined ? (
        <JsonText label="Arguments" text={formatJsonText(call.input)} />
      ) : (
        <div className="[&>*]:my-0">
          <CodeBlock code={program} language="javascript" />
        </div>
      )}
      {call.error && (
        <p className="text-sm text-bad [overflow-wrap:anywhere]">{escapeBidi(call.error.message)}</p>
      )}
      {call.result !== undefined && <JsonText label="Result" text={formatResultContent(call.result)} />}
      {call.data !== undefined && call.data !== call.result && (
        <JsonText label="Data" text={formatJsonText(call.data)} />
      )}
      {seq !== undefined && (
        <div className="flex items-center gap-1 text-xs text-quiet">
          <IconButton label="Show in timeline" className="size-7!" onClick={() => showFact(seq)}>
            <GanttChart size={14} />
          </IconButton>
          {call.ms !== undefined && <span className="tabular-nums">Took {formatDuration(call.ms)}</span>}
        </div>
      )}
    </div>
  );
}

import type { CallView, SessionView } from "capstan/client";
import { isDrawable } from "../../widgets/widget.tsx";
import type { WidgetReplies } from "../../widgets/widget-props.ts";

const most = 6;

type Said = Pick<SessionView, "status" | "entries"> & { readonly runId?: string | undefined };

/** What a person could say next: offered by the last turn of the newest run that has drawn something. */
export function repliesOf({ status, runId, entries }: Said): readonly string[] {
  if (status !== "done" && status !== "limit") return [];
  for (const entry of entries.toReversed()) {
    if (entry.runId !== runId) return [];
    const hints = entry.type === "assistant" ? entry.calls.flatMap(drawn) : [];
    if (hints.length > 0) return [...new Set(hints.flatMap(({ replies = [] }) => replies))].slice(0, most);
  }
  return [];
}

function drawn({ ui }: CallView): readonly WidgetReplies[] {
  // The shape of every widget has looked at them.
  return ui && isDrawable(ui) ? [ui.props as WidgetReplies] : [];
}

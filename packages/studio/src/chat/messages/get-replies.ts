import type { CallView, SessionView } from "capstan/client";
import { isDrawable } from "../../widgets/widget.tsx";
import type { WidgetReplies } from "../../widgets/widget-props.ts";

const maxReplies = 6;

type RepliesInput = Pick<SessionView, "status" | "entries"> & { readonly runId?: string | undefined };

/** Returns the replies suggested by the widgets of the newest run's last turn that has any. */
export function getReplies({ status, runId, entries }: RepliesInput): readonly string[] {
  if (status !== "done" && status !== "limit") return [];
  for (const entry of entries.toReversed()) {
    if (entry.runId !== runId) return [];
    const hints = entry.type === "assistant" ? entry.calls.flatMap(getWidgetReplies) : [];
    if (hints.length > 0)
      return [...new Set(hints.flatMap(({ replies = [] }) => replies))].slice(0, maxReplies);
  }
  return [];
}

function getWidgetReplies({ ui }: CallView): readonly WidgetReplies[] {
  // `isDrawable` has validated them.
  return ui && isDrawable(ui) ? [ui.props as WidgetReplies] : [];
}

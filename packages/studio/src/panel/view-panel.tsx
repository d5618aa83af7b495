import type { ReactNode } from "react";
import { Widget } from "../widgets/widget.tsx";
import { WidgetRoom } from "../widgets/widget-frame.tsx";
import { useShownView } from "./panel-state.ts";

/** The newest map or graph of the session, filling the panel. */
export function ViewPanel(): ReactNode {
  const hint = useShownView();
  if (!hint) return null;
  return (
    <section
      data-view=""
      aria-label="View"
      tabIndex={-1}
      className="flex min-h-0 flex-1 flex-col p-3 outline-none focus-visible:outline-2 focus-visible:-outline-offset-2 focus-visible:outline-accent/60"
    >
      <WidgetRoom value="panel">
        <Widget hint={hint} />
      </WidgetRoom>
    </section>
  );
}

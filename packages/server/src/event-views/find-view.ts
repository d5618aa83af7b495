import { AgentError } from "capstan";
import type { EventView, EventViews } from "./event-view.ts";

/** Finds a view by name. Throws `invalid_input` with the names of all views. */
export function findView(name: string, views: EventViews): EventView {
  const view = Object.hasOwn(views, name) ? views[name] : undefined;
  if (view) return view;
  const names = Object.keys(views).map((known) => JSON.stringify(known));
  const message = `Unknown view of events ${JSON.stringify(name)}. Available views: ${names.join(", ")}.`;
  throw new AgentError("invalid_input", message);
}

/** Adds an application's views to the server's own. Throws `invalid_definition` for a name that cannot be requested. */
export function addViews(own: EventViews, views: EventViews): EventViews {
  for (const name of Object.keys(views)) {
    if (name === "all" || Object.hasOwn(own, name))
      throw new AgentError("invalid_definition", `The name "${name}" is taken. Rename the view of events.`);
    if (!/^[\w-]{1,64}$/.test(name))
      throw new AgentError(
        "invalid_definition",
        `Invalid name of a view: ${JSON.stringify(name)}. Use letters, digits, "-" and "_".`,
      );
  }
  return { ...own, ...views };
}

import type { Event } from "capstan";

/** A line about an event that is neither a message nor a call. */
export type Notice = { readonly text: string; readonly color: "dim" | "yellow" | "red" };

/** Shown below the failure of a run that can be retried. */
export const retryHint = "/retry tries again from where the run failed.";

/** Returns the notice for an event, if it has one. */
export function toNotice(event: Event): Notice | undefined {
  const dim = (text: string): Notice => ({ text, color: "dim" });
  const warn = (text: string): Notice => ({ text, color: "yellow" });
  switch (event.type) {
    case "warning":
      // The usage line already marks estimates.
      return event.code === "usage_estimated" ? undefined : warn(event.message);
    case "limit_reached":
      return warn(event.message);
    case "model_failed":
      return warn(`${event.model} failed: ${event.error.message}`);
    case "retried":
      return dim("Retrying.");
    case "compacted":
      return dim(
        event.text === undefined
          ? "Older tool results were shortened to save context."
          : "Older messages were summarized to save context.",
      );
    case "handoff":
      return dim(`${event.from} handed off to ${event.to}.`);
    case "handoff_return":
      return dim(`${event.from} returned to ${event.to}.`);
    case "handoff_denied":
      return warn(`Handoff to ${event.to} denied: ${event.reason}`);
    case "recovered":
      return dim(
        event.alone
          ? "The process crashed repeatedly. Resuming this run alone from the last saved step."
          : "The previous process stopped. Resuming from the last saved step.",
      );
    case "turn_summary":
      return event.text ? dim(event.text) : undefined;
    case "done":
      if (event.status === "cancelled") return warn("Stopped.");
      if (event.status === "failed") return { text: event.error?.message ?? event.text, color: "red" };
      return undefined;
    default:
      return undefined;
  }
}

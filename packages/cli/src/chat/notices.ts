import type { Event } from "capstan";

/** A line about something that is neither said nor a call. */
export type Notice = { readonly text: string; readonly color: "dim" | "yellow" | "red" };

/** What people should know of an event; most have no such thing. */
export function toNotice(event: Event): Notice | undefined {
  const dim = (text: string): Notice => ({ text, color: "dim" });
  const warn = (text: string): Notice => ({ text, color: "yellow" });
  switch (event.type) {
    case "warning":
      // The figures themselves say that they are an estimate.
      return event.code === "usage_estimated" ? undefined : warn(event.message);
    case "limit_reached":
      return warn(event.message);
    case "model_failed":
      return warn(`${event.model} failed: ${event.error.message}`);
    case "compacted":
      return dim(
        event.text === undefined
          ? "Older results were shortened to make room."
          : "Older messages were summarised to make room.",
      );
    case "handoff":
      return dim(`${event.from} hands over to ${event.to}.`);
    case "handoff_return":
      return dim(`${event.from} gives back to ${event.to}.`);
    case "handoff_denied":
      return warn(`Not handed over to ${event.to}: ${event.reason}`);
    case "recovered":
      return dim("The process that was at work on this is gone. Going on from what it had done.");
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

import type { AgentError, Event } from "capstan";
import type { Deployment } from "../../deployment.ts";
import { findView } from "../../event-views/find-view.ts";
import { createViewFormatter } from "../../event-views/view-formatter.ts";
import { drainingFrame, formatErrorFrame, formatEventFrame, logFrames } from "../../http/event-stream.ts";
import { chatView, formatSseEvent } from "./chat-events.ts";

/** How a chat is sent. */
export type ChatFormat = {
  formatEvent(event: Event): string;
  /** For an event that the client has already. */
  skipEvent(event: Event): void;
  /** The frames that end a chat early. */
  formatShutdown(): string;
  formatFailure(error: AgentError): string;
};

/** The simple chat, another view, or `all` events in the default form. Throws `invalid_input` for an unknown view. */
export function createChatFormat(
  name: string | undefined,
  { isStored }: { readonly isStored: boolean },
  { eventViews, sseLog }: Deployment,
): ChatFormat {
  const view = name === "all" ? undefined : findView(name ?? "chat", eventViews);
  // The simple chat has no ids unless a client asks for it as a view.
  const withIds = name !== undefined && isStored;
  const format = view ? createViewFormatter({ view, withIds }) : formatEventFrame;
  const log = (frames: string): string => logFrames(frames, sseLog);
  const base = { formatEvent: (event: Event) => log(format(event)), skipEvent: format };
  if (view && view !== chatView)
    return {
      ...base,
      formatShutdown: () => log(drainingFrame),
      formatFailure: (error) => log(formatErrorFrame(error)),
    };
  function formatEnd(code: string, message: string): string {
    return log(formatSseEvent("error", { code, message }) + formatSseEvent("done", {}));
  }
  const message = "The server is shutting down. A stored run continues and can be read again.";
  return {
    ...base,
    formatShutdown: () => (view ? formatEnd("draining", message) : ""),
    formatFailure: (error) => formatEnd(error.code, error.message),
  };
}

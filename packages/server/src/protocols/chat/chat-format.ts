import type { AgentError, Event } from "capstan";
import type { Deployment } from "../../deployment.ts";
import type { EventView, ViewEvent } from "../../event-views/event-view.ts";
import { findView } from "../../event-views/find-view.ts";
import { createViewFormatter } from "../../event-views/view-formatter.ts";
import { drainingFrame, formatErrorFrame, formatEventFrame } from "../../http/event-stream.ts";
import { type ChatEvent, chatView, formatSseEvent } from "./chat-events.ts";

/** How a chat is sent. */
export type ChatFormat = {
  formatEvent(event: Event): string;
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
  const formatEvent = view
    ? createViewFormatter({ view: sseLog ? withLog(view, sseLog) : view, withIds })
    : formatEventFrame;
  if (view && view !== chatView)
    return { formatEvent, formatShutdown: () => drainingFrame, formatFailure: formatErrorFrame };
  function formatEnd(code: string, message: string): string {
    const error: ChatEvent = { event: "error", data: { code, message } };
    const frames: readonly ChatEvent[] = [error, { event: "done", data: {} }];
    for (const frame of frames) sseLog?.(formatLogLine(frame));
    return frames.map(({ event, data }) => formatSseEvent(event, data)).join("");
  }
  const message = "The server is shutting down. A stored run continues and can be read again.";
  return {
    formatEvent,
    formatShutdown: () => (view ? formatEnd("draining", message) : ""),
    formatFailure: (error) => formatEnd(error.code, error.message),
  };
}

function withLog({ description, create }: EventView, log: (line: string) => void): EventView {
  return {
    description,
    create() {
      const project = create();
      return (event) => {
        const events = project(event);
        for (const each of events) log(formatLogLine(each));
        return events;
      };
    },
  };
}

function formatLogLine({ event, data }: ViewEvent): string {
  return `event: ${event} | data: ${JSON.stringify(data)}`;
}

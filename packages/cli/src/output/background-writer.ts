import { type Event, getCalls, getText } from "capstan";

const endings = {
  done: "is done",
  limit: "stopped at a limit",
  failed: "failed",
  cancelled: "was cancelled",
} as const;

/** Returns a function that writes a line when background work starts, says something on the way, and ends. */
export function createBackgroundWriter(writeLine: (line: string) => void): (event: Event) => void {
  const toLine = createLineFormat();
  return (event) => {
    const line = toLine(event);
    if (line !== undefined) writeLine(line);
  };
}

function createLineFormat(): (event: Event) => string | undefined {
  const names = new Map<string, string>();
  return (event) => {
    if (event.type === "run_start" && event.background) {
      names.set(event.runId, event.agent);
      return `${event.agent} works in the background.`;
    }
    const name = names.get(event.runId);
    if (name === undefined) return undefined;
    if (event.type === "message" && getCalls(event.entry).length > 0) {
      const text = getText(event.entry).replaceAll(/\s+/g, " ").trim();
      return text === "" ? undefined : `${name} in the background: ${text}`;
    }
    if (event.type !== "done") return undefined;
    names.delete(event.runId);
    return `${name} in the background ${endings[event.status]}.`;
  };
}

import type { McpTrafficMessage } from "capstan/client";
import { ArrowDownLeft, ArrowUpRight } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { client } from "../data/client.ts";
import { escapeInvisible } from "../ui/escape-text.ts";
import { formatJsonText, JsonText } from "../ui/json-text.tsx";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { ErrorMessage, Loading } from "../ui/state.tsx";

const maxShown = 200;
const pollMs = 1_000;

/** The last messages between Capstan and a server, newest first, live while it is shown. */
export function ServerTraffic({ server }: { readonly server: string }): ReactNode {
  const { messages, error } = useTraffic(server);
  if (!messages && error === undefined) return <Loading label="Loading messages" />;
  return (
    <>
      {error !== undefined && <ErrorMessage message={error} />}
      <p className="mb-2 text-xs text-quiet">
        The last {maxShown} messages of all users since the server was started. Known secrets are masked.
      </p>
      <ScrollRegion
        label={`Messages of ${escapeInvisible(server)}`}
        className="max-h-96 overflow-auto rounded-md border bg-paper"
      >
        <ul className="divide-y">
          {messages?.toReversed().map((message) => (
            <TrafficRow key={message.number} message={message} />
          ))}
        </ul>
      </ScrollRegion>
    </>
  );
}

function useTraffic(server: string) {
  const [messages, setMessages] = useState<readonly McpTrafficMessage[]>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    let shown: readonly McpTrafficMessage[] = [];
    async function poll(): Promise<void> {
      try {
        const added = document.hidden && last > 0 ? [] : await client.mcp.traffic(server, last);
        if (!isCurrent) return;
        last = added.at(-1)?.number ?? last;
        shown = added.length === 0 ? shown : [...shown, ...added].slice(-maxShown);
        setMessages(shown);
        setError(undefined);
      } catch (thrown) {
        if (isCurrent) setError(thrown instanceof Error ? thrown.message : String(thrown));
      }
      if (isCurrent) timer = setTimeout(() => void poll(), pollMs);
    }
    void poll();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [server]);
  return { messages, error };
}

function TrafficRow({ message }: { readonly message: McpTrafficMessage }): ReactNode {
  const { at, direction, text, size } = message;
  const [isOpen, setOpen] = useState(false);
  const isSent = direction === "sent";
  const Arrow = isSent ? ArrowUpRight : ArrowDownLeft;
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="flex cursor-pointer list-none items-center gap-2 px-3 py-1.5 text-xs hover:bg-sunken/60 [&::-webkit-details-marker]:hidden">
          <Arrow size={14} aria-hidden="true" className={isSent ? "text-accent" : "text-good"} />
          <span className="sr-only">{isSent ? "Sent" : "Received"}</span>
          <time className="tabular-nums text-faint" dateTime={new Date(at).toISOString()}>
            {formatClock(at)}
          </time>
          <span className="min-w-0 flex-1 truncate font-mono">{describeMessage(text)}</span>
          <span className="shrink-0 tabular-nums text-faint">{size} chars</span>
        </summary>
        {isOpen && (
          <div className="px-3 pb-2">
            <JsonText label="Message" text={formatJsonText(text)} />
          </div>
        )}
      </details>
    </li>
  );
}

function formatClock(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}

/** The method of a message, or what it answers. */
function describeMessage(text: string): string {
  const [, method] = /"method":"((?:[^"\\]|\\.){1,100})"/.exec(text) ?? [];
  const [, tool] = /"params":\{[^{]{0,200}?"name":"((?:[^"\\]|\\.){1,100})"/.exec(text) ?? [];
  if (method !== undefined) return escapeInvisible(tool === undefined ? method : `${method} ${tool}`);
  return text.includes('"error":{') ? "error" : "result";
}

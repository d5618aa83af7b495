import type { McpCallInfo, McpServerInfo, ToolInfo } from "capstan/client";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Link } from "wouter";
import { ScrollRegion } from "../markdown/scroll-region.tsx";
import { steadyText, visibleText } from "../markdown/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { timeAgo } from "../ui/format-age.ts";
import { Tag } from "./page.tsx";
import { ToolChange } from "./tool-change.tsx";

type McpServerCardProps = {
  readonly server: McpServerInfo;
  /** Left out for those who may not. */
  readonly onTrust: ((tool?: string) => void) | undefined;
};

const states = {
  off: { words: "Switched off", dot: "bg-faint" },
  starting: { words: "Starting", dot: "bg-warn" },
  "signing-in": { words: "Waits for you to sign in", dot: "bg-warn" },
  ready: { words: "Ready", dot: "bg-good" },
  restarting: { words: "Starting again", dot: "bg-warn" },
  failed: { words: "Failed", dot: "bg-bad" },
  closed: { words: "Closed", dot: "bg-faint" },
} as const;

/** One server: how it is, what it offers, and what has changed. */
export function McpServerCard({ server, onTrust }: McpServerCardProps): ReactNode {
  const { name, state, error, restarts, tools, changed, problems, calls, log } = server;
  const heading = useId();
  const { words, dot } = states[state];
  return (
    <section aria-labelledby={heading} className="rounded-lg border bg-raised">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3">
        <span aria-hidden="true" className={classNames("size-2 rounded-full", dot)} />
        <h2 id={heading} className="font-medium [overflow-wrap:anywhere]">
          {steadyText(name)}
        </h2>
        <p className="text-sm text-quiet">{words}</p>
        {restarts > 0 && (
          <p className="text-sm text-warn">
            {restarts === 1 ? "started again once" : `started again ${restarts} times`} within the hour
          </p>
        )}
      </div>
      {error && (
        <p className="mx-4 mb-3 rounded-md bg-bad-soft px-3 py-2 text-sm text-bad [overflow-wrap:anywhere]">
          {steadyText(error.message)}
        </p>
      )}
      <Problems problems={problems} />
      {changed.length > 0 && (
        <div className="grid gap-3 border-t bg-warn-soft/50 px-4 py-3">
          {changed.map((change) => (
            <ToolChange key={change.name} change={change} onTrust={onTrust && (() => onTrust(change.name))} />
          ))}
          {onTrust && changed.length > 1 && (
            <Button size="small" className="justify-self-start" onClick={() => onTrust()}>
              Trust all {changed.length}
            </Button>
          )}
        </div>
      )}
      <Fold
        title={tools.length === 1 ? "1 tool" : `${tools.length} tools`}
        {...(tools.length === 0 && { none: "No tools" })}
      >
        <ul className="grid gap-3">
          {tools.map((tool) => (
            <ToolItem key={tool.name} tool={tool} />
          ))}
        </ul>
      </Fold>
      <Fold
        title="Your last calls"
        {...(calls.length === 0 && { none: "No calls by you since the server was started" })}
      >
        <Calls calls={calls} />
      </Fold>
      {log && log.length > 0 && (
        <Fold title="Log">
          <ScrollRegion
            label={`The log of ${steadyText(name)}`}
            className="max-h-64 overflow-auto rounded-md bg-sunken px-3 py-2"
          >
            <pre className="whitespace-pre-wrap font-mono text-xs leading-relaxed [overflow-wrap:anywhere]">
              {visibleText(log.join("\n"))}
            </pre>
          </ScrollRegion>
        </Fold>
      )}
    </section>
  );
}

function Problems({ problems }: Pick<McpServerInfo, "problems">): ReactNode {
  if (problems.length === 0) return null;
  return (
    <ul className="mx-4 mb-3 grid gap-1 text-sm text-warn">
      {problems.map((problem) => (
        <li key={problem} className="[overflow-wrap:anywhere]">
          {steadyText(problem)}
        </li>
      ))}
    </ul>
  );
}

type FoldProps = {
  readonly title: string;
  /** What is said when there is nothing in it. */
  readonly none?: string;
  readonly children: ReactNode;
};

function Fold({ title, none, children }: FoldProps): ReactNode {
  if (none !== undefined) return <p className="border-t px-4 py-2 pl-9.5 text-sm text-faint">{none}</p>;
  return (
    <details className="group border-t">
      <summary className="flex cursor-pointer list-none items-center gap-2 px-4 py-2 text-sm hover:bg-sunken/60 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          size={14}
          aria-hidden="true"
          className="text-faint transition-transform group-open:rotate-90"
        />
        {title}
      </summary>
      <div className="px-4 pb-3 pl-9.5">{children}</div>
    </details>
  );
}

const effects = {
  none: "Changes nothing",
  ui: "Changes what you see",
  state: "Changes something",
  send: "Sends something out",
} as const;

function ToolItem({ tool }: { readonly tool: ToolInfo }): ReactNode {
  const { name, description, effects: effect, reads = [], needsApproval } = tool;
  return (
    <li>
      <p className="flex flex-wrap items-center gap-1.5">
        <span className="mr-1 font-mono text-[0.8125rem] font-medium [overflow-wrap:anywhere]">
          {visibleText(name)}
        </span>
        {effect !== undefined && <Tag>{effects[effect]}</Tag>}
        {reads.includes("private") && <Tag>Reads private data</Tag>}
        {reads.includes("untrusted") && <Tag>Reads what others wrote</Tag>}
        {needsApproval && <Tag tone="accent">Asks first</Tag>}
      </p>
      <p className="mt-0.5 line-clamp-3 whitespace-pre-wrap text-sm text-quiet [overflow-wrap:anywhere]">
        {steadyText(description)}
      </p>
    </li>
  );
}

function Calls({ calls }: { readonly calls: readonly McpCallInfo[] }): ReactNode {
  return (
    <ul className="grid gap-1 text-sm">
      {calls.map(({ tool, at, ms, status, runId, sessionId }) => (
        <li key={`${runId} ${at} ${tool}`} className="flex flex-wrap items-baseline gap-x-3">
          <span className="font-mono text-[0.8125rem]">{visibleText(tool)}</span>
          <span className={status === "ok" ? "text-good" : "text-bad"}>{status}</span>
          <span className="tabular-nums text-quiet">{ms} ms</span>
          <span className="text-faint">{timeAgo(at, Date.now())}</span>
          <Link
            href={`/sessions/${encodeURIComponent(sessionId)}`}
            className="text-accent underline underline-offset-4"
          >
            Open<span className="sr-only"> the session of this call</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

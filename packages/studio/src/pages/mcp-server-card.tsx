import type { McpCallInfo, McpServerInfo, ToolInfo } from "capstan/client";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Link } from "wouter";
import { Button } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { MetadataReview } from "./metadata-review.tsx";
import { Tag } from "./page.tsx";
import { ToolChange } from "./tool-change.tsx";

type McpServerCardProps = {
  readonly server: McpServerInfo;
  /** Approves one tool or all. Undefined if the user may not. */
  readonly onTrust: ((tool?: string) => void) | undefined;
};

const states = {
  off: { label: "Off", dot: "bg-faint" },
  starting: { label: "Starting", dot: "bg-warn" },
  "signing-in": { label: "Sign-in required", dot: "bg-warn" },
  ready: { label: "Ready", dot: "bg-good" },
  restarting: { label: "Restarting", dot: "bg-warn" },
  failed: { label: "Failed", dot: "bg-bad" },
  closed: { label: "Closed", dot: "bg-faint" },
} as const;

/** An MCP server: status, what the model reads of it, tools and changes. */
export function McpServerCard({ server, onTrust }: McpServerCardProps): ReactNode {
  const { name, state, error, restarts, tools, changed, problems, calls, log } = server;
  const heading = useId();
  const { label, dot } = states[state];
  return (
    <section aria-labelledby={heading} className="rounded-lg border bg-raised">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3">
        <span aria-hidden="true" className={classNames("size-2 rounded-full", dot)} />
        <h2 id={heading} className="font-medium [overflow-wrap:anywhere]">
          {escapeBidi(name)}
        </h2>
        <p className="text-sm text-quiet">{label}</p>
        {restarts > 0 && (
          <p className="text-sm text-warn">
            {restarts === 1 ? "restarted once" : `restarted ${restarts} times`} in the last hour
          </p>
        )}
      </div>
      {error && (
        <p className="mx-4 mb-3 rounded-md bg-bad-soft px-3 py-2 text-sm text-bad [overflow-wrap:anywhere]">
          {escapeBidi(error.message)}
        </p>
      )}
      <Problems problems={problems} />
      <MetadataReview server={server} onApprove={onTrust && (() => onTrust())} />
      {changed.length > 0 && (
        <div className="grid gap-3 border-t bg-warn-soft/50 px-4 py-3">
          {changed.map((change) => (
            <ToolChange key={change.name} change={change} onTrust={onTrust && (() => onTrust(change.name))} />
          ))}
          {onTrust && changed.length > 1 && (
            <Button size="small" className="justify-self-start" onClick={() => onTrust()}>
              Approve all {changed.length}
            </Button>
          )}
        </div>
      )}
      <Fold
        title={tools.length === 1 ? "1 tool" : `${tools.length} tools`}
        {...(tools.length === 0 && { emptyText: "No tools" })}
      >
        <ul className="grid gap-3">
          {tools.map((tool) => (
            <ToolItem key={tool.name} tool={tool} />
          ))}
        </ul>
      </Fold>
      <Fold
        title="Your recent calls"
        {...(calls.length === 0 && { emptyText: "No calls since the server started" })}
      >
        <Calls calls={calls} />
      </Fold>
      {log && log.length > 0 && (
        <Fold title="Log">
          <ScrollRegion
            label={`Log of ${escapeBidi(name)}`}
            className="max-h-64 overflow-auto rounded-md bg-sunken px-3 py-2"
          >
            <pre className="whitespace-pre-wrap font-mono text-xs leading-relaxed [overflow-wrap:anywhere]">
              {escapeInvisible(log.join("\n"))}
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
          {escapeBidi(problem)}
        </li>
      ))}
    </ul>
  );
}

type FoldProps = {
  readonly title: string;
  /** Shown instead of an empty section. */
  readonly emptyText?: string;
  readonly children: ReactNode;
};

function Fold({ title, emptyText, children }: FoldProps): ReactNode {
  if (emptyText !== undefined)
    return <p className="border-t px-4 py-2 pl-9.5 text-sm text-faint">{emptyText}</p>;
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
  none: "Read-only",
  ui: "Changes the view",
  state: "Changes data",
  send: "Sends data",
} as const;

function ToolItem({ tool }: { readonly tool: ToolInfo }): ReactNode {
  const { name, description, effects: effect, reads = [], needsApproval } = tool;
  return (
    <li>
      <p className="flex flex-wrap items-center gap-1.5">
        <span className="mr-1 font-mono text-[0.8125rem] font-medium [overflow-wrap:anywhere]">
          {escapeInvisible(name)}
        </span>
        {effect !== undefined && <Tag>{effects[effect]}</Tag>}
        {reads.includes("private") && <Tag>Reads private data</Tag>}
        {reads.includes("untrusted") && <Tag>Reads untrusted content</Tag>}
        {needsApproval && <Tag tone="accent">Needs approval</Tag>}
      </p>
      <p className="mt-0.5 line-clamp-3 whitespace-pre-wrap text-sm text-quiet [overflow-wrap:anywhere]">
        {escapeBidi(description)}
      </p>
    </li>
  );
}

function Calls({ calls }: { readonly calls: readonly McpCallInfo[] }): ReactNode {
  return (
    <ul className="grid gap-1 text-sm">
      {calls.map(({ tool, at, ms, status, runId, sessionId }) => (
        <li key={`${runId} ${at} ${tool}`} className="flex flex-wrap items-baseline gap-x-3">
          <span className="font-mono text-[0.8125rem]">{escapeInvisible(tool)}</span>
          <span className={status === "ok" ? "text-good" : "text-bad"}>{status}</span>
          <span className="tabular-nums text-quiet">{ms} ms</span>
          <span className="text-faint">{formatTimeAgo(at, Date.now())}</span>
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

import type { McpCallInfo, McpServerInfo, ToolInfo } from "capstan/client";
import { formatCount } from "capstan/sessions";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Link } from "wouter";
import { Fold } from "../mcp/fold.tsx";
import { ServerPrompts, ServerResources } from "../mcp/server-contents.tsx";
import { ServerSignIn } from "../mcp/server-sign-in.tsx";
import { ServerTraffic } from "../mcp/server-traffic.tsx";
import { ToolTrial } from "../mcp/tool-trial.tsx";
import { Button } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { CodeText } from "../ui/code-text.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { ConfirmButton } from "./confirm-button.tsx";
import { MetadataReview } from "./metadata-review.tsx";
import { Tag } from "./page.tsx";
import { ToolChange } from "./tool-change.tsx";

type McpServerCardProps = {
  readonly server: McpServerInfo;
  /** Scrolls to it. */
  readonly isNew?: boolean;
  /** Approves one tool or all. Undefined if the user may not. */
  readonly onTrust: ((tool?: string) => void) | undefined;
  /** What an admin may do. Undefined for other users. */
  readonly admin: McpServerActions | undefined;
};

export type McpServerActions = {
  readonly remove: () => Promise<unknown>;
  readonly signOut: () => Promise<unknown>;
  /** Loads the servers again, to follow a sign-in. */
  readonly follow: () => void;
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
export function McpServerCard({ server, isNew = false, onTrust, admin }: McpServerCardProps): ReactNode {
  const { name, state, error, address, restarts, tools, changed, problems, calls, log } = server;
  const heading = useId();
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isNew) section.current?.scrollIntoView({ block: "nearest" });
  }, [isNew]);
  const { label, dot } = states[server.needsSignIn && state === "failed" ? "signing-in" : state];
  return (
    <section ref={section} aria-labelledby={heading} className="rounded-lg border bg-raised">
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
        {admin && <ServerActions server={server} admin={admin} />}
        {address !== undefined && (
          <p className="basis-full pl-5 font-mono text-xs text-quiet [overflow-wrap:anywhere]">
            {escapeInvisible(address)}
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
        <div className="grid grid-cols-1 gap-3 border-t bg-warn-soft/50 px-4 py-3">
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
      <Fold title={formatCount(tools.length, "tool")} {...(tools.length === 0 && { emptyText: "No tools" })}>
        <ul className="grid grid-cols-1 gap-3">
          {tools.map((tool) => (
            <ToolItem key={tool.name} tool={tool} server={server} />
          ))}
        </ul>
      </Fold>
      {admin && state === "ready" && (
        <>
          <Fold title="Resources">{() => <ServerResources server={name} />}</Fold>
          <Fold title="Prompts">{() => <ServerPrompts server={name} />}</Fold>
        </>
      )}
      {admin && <Fold title="Messages">{() => <ServerTraffic server={name} />}</Fold>}
      <Fold
        title="Your recent calls"
        {...(calls.length === 0 && { emptyText: "Your recent calls: none since the server started" })}
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

type ServerActionsProps = { readonly server: McpServerInfo; readonly admin: McpServerActions };

function ServerActions({ server, admin }: ServerActionsProps): ReactNode {
  const { name, needsSignIn, isSignedIn, canRemove } = server;
  const label = escapeInvisible(name);
  return (
    <div className="ml-auto flex flex-wrap gap-2">
      {needsSignIn && <ServerSignIn server={server} onChange={admin.follow} />}
      {isSignedIn && !needsSignIn && (
        <ConfirmButton
          label="Sign out"
          name={`Sign out of ${label}`}
          consequence="Its tokens are deleted. Its tools are gone until you sign in again."
          onConfirm={admin.signOut}
        />
      )}
      {canRemove && (
        <ConfirmButton
          label="Remove"
          name={`Remove ${label}`}
          consequence="The server stops, and its tools are gone for every agent."
          onConfirm={admin.remove}
        />
      )}
    </div>
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

const effects = {
  none: "Read-only",
  ui: "Changes the view",
  state: "Changes data",
  send: "Sends data",
} as const;

type ToolItemProps = { readonly tool: ToolInfo; readonly server: McpServerInfo };

function ToolItem({ tool, server }: ToolItemProps): ReactNode {
  const { name, description, effects: effect, reads = [], needsApproval } = tool;
  const [isOpen, setOpen] = useState(false);
  // Only admins get the metadata, and may call a tool themselves.
  const metadata = server.metadata?.tools.find((one) => one.name === `mcp_${server.name}_${name}`);
  return (
    <li>
      {metadata && (
        <Button size="small" className="float-right ml-3" onClick={() => setOpen(true)}>
          Try<span className="sr-only"> {escapeInvisible(name)}</span>
        </Button>
      )}
      {isOpen && metadata && (
        <ToolTrial server={server.name} tool={tool} metadata={metadata} onClose={() => setOpen(false)} />
      )}
      <p className="flex flex-wrap items-center gap-1.5">
        <span className="mr-1 font-mono text-small font-medium [overflow-wrap:anywhere]">
          {escapeInvisible(name)}
        </span>
        {effect !== undefined && <Tag>{effects[effect]}</Tag>}
        {reads.includes("private") && <Tag>Reads private data</Tag>}
        {reads.includes("untrusted") && <Tag>Reads untrusted content</Tag>}
        {needsApproval && <Tag tone="accent">Needs approval</Tag>}
      </p>
      <p className="mt-0.5 line-clamp-3 whitespace-pre-wrap text-sm text-quiet [overflow-wrap:anywhere]">
        <CodeText text={getOwnDescription(description)} />
      </p>
    </li>
  );
}

/** The server's own words, without what tells the model whose words they are: this card is about that server. */
function getOwnDescription(description: string): string {
  const [header = "", ...lines] = description.split("\n");
  if (!header.startsWith("From the MCP server ") || lines.length === 0) return description;
  return lines.map((line) => line.replace(/^> ?/, "")).join("\n");
}

function Calls({ calls }: { readonly calls: readonly McpCallInfo[] }): ReactNode {
  return (
    <ul className="grid gap-1 text-sm">
      {calls.map(({ tool, at, ms, status, runId, sessionId }) => (
        <li key={`${runId} ${at} ${tool}`} className="flex flex-wrap items-baseline gap-x-3">
          <span className="font-mono text-small">{escapeInvisible(tool)}</span>
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

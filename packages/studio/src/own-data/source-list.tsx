import type { DataSourceInfo } from "capstan/client";
import { formatCounts } from "capstan/sessions";
import { Database } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { getNewChatPath } from "../data/agents.ts";
import { client } from "../data/client.ts";
import { ConfirmButton } from "../pages/confirm-button.tsx";
import { runWithToast } from "../shell/toasts.tsx";
import { Button, getButtonStyle } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { useOwnData } from "./own-data-state.ts";

type SourceListProps = { readonly sources: readonly DataSourceInfo[]; readonly canChange: boolean };

/** The data of an app: progress, what was read, what was skipped and why. */
export function SourceList({ sources, canChange }: SourceListProps): ReactNode {
  if (sources.length === 0) return null;
  return (
    <ul aria-label="Your data" className="divide-y rounded-lg border bg-raised">
      {sources.map((source) => (
        <SourceItem key={source.id} source={source} canChange={canChange} />
      ))}
    </ul>
  );
}

type SourceItemProps = { readonly source: DataSourceInfo; readonly canChange: boolean };

function SourceItem({ source, canChange }: SourceItemProps): ReactNode {
  const { id, title, state, error } = source;
  const name = escapeBidi(title);
  const { refresh, close } = useOwnData.getState();
  const change = (action: () => Promise<unknown>) => runWithToast(() => action().finally(refresh));
  return (
    <li className="grid gap-1.5 px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <Database size={14} aria-hidden="true" className="shrink-0 text-faint" />
        <span className="min-w-0 flex-1 font-medium text-sm [overflow-wrap:anywhere]">{name}</span>
        {state === "ready" && (
          <Link href={getNewChatPath(id)} onClick={close} className={getButtonStyle("main", "small")}>
            Open
          </Link>
        )}
        {canChange && state === "failed" && (
          <Button size="small" onClick={() => change(() => client.data.load(id))}>
            Try again
          </Button>
        )}
        {canChange && (
          <ConfirmButton
            label="Remove"
            name={`Remove ${name}`}
            consequence="Uploaded copies and the index are deleted. Your own files and your sessions are kept."
            onConfirm={() => client.data.remove(id).finally(refresh)}
          />
        )}
      </div>
      <div role="status" className="text-quiet text-sm [overflow-wrap:anywhere]">
        <SourceProgress source={source} />
      </div>
      {error && <p className="text-bad text-sm [overflow-wrap:anywhere]">{escapeBidi(error.message)}</p>}
      <SkippedItems source={source} />
    </li>
  );
}

function SourceProgress({ source }: { readonly source: DataSourceInfo }): ReactNode {
  const upload = useOwnData(({ uploads }) => uploads[source.id]);
  const { title, state, progress, report } = source;
  if (state === "ready") return formatCounts(report?.counts ?? {}) || "Nothing was read.";
  if (state === "failed") return "Could not be loaded.";
  if (state === "uploading" && !upload)
    return "The upload was not finished. Remove it, and add the data again.";
  const { done = 0, total } = upload ?? progress ?? {};
  const verb = upload ? "Uploading" : "Reading";
  const item = upload ? undefined : progress?.item;
  return (
    <>
      <progress
        aria-label={`${verb} ${escapeBidi(title)}`}
        className="mb-1 block h-1.5 w-full appearance-none overflow-hidden rounded-full bg-line accent-accent [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
        max={total || 1}
        {...(total !== undefined && { value: done })}
      />
      {verb}
      {total === undefined ? "…" : ` ${done} of ${total}`}
      {item === undefined ? "" : `: ${escapeBidi(item)}`}
    </>
  );
}

function SkippedItems({ source: { report } }: { readonly source: DataSourceInfo }): ReactNode {
  if (!report || report.skippedCount === 0) return null;
  const { skippedCount, skipped = [] } = report;
  const rest = skippedCount - skipped.length;
  return (
    <details className="text-sm">
      <summary className="cursor-pointer text-warn">{skippedCount.toLocaleString("en")} skipped</summary>
      <ScrollRegion
        role="group"
        label="What was skipped"
        className="mt-1 max-h-48 overflow-y-auto text-quiet"
      >
        <ul>
          {skipped.map(({ item, reason }) => (
            <li key={`${item} ${reason}`} className="[overflow-wrap:anywhere]">
              <span className="font-medium">{escapeBidi(item)}</span>: {escapeBidi(reason)}
            </li>
          ))}
          {rest > 0 && <li>… and {rest.toLocaleString("en")} more</li>}
        </ul>
      </ScrollRegion>
    </details>
  );
}

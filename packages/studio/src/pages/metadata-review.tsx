import type { McpServerInfo, McpToolMetadata } from "capstan/client";
import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { escapeInvisible } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";

type MetadataReviewProps = {
  readonly server: McpServerInfo;
  /** Undefined if the user may not approve. */
  readonly onApprove: (() => void) | undefined;
};

/** The texts of a server that the model reads and that are not approved yet, exactly as the model gets them. */
export function MetadataReview({ server, onApprove }: MetadataReviewProps): ReactNode {
  const { name, isApproved, metadata } = server;
  if (isApproved) return null;
  const unapproved = metadata?.tools.filter((tool) => !tool.isApproved) ?? [];
  return (
    <div className="border-t bg-warn-soft/50 px-4 py-3">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <p className="min-w-0 flex-1 basis-64 text-sm">
          Not approved: what this server tells the model counts as untrusted, so calls of other tools that
          change or send something may need your approval.
        </p>
        {onApprove && (
          <Button size="small" onClick={onApprove}>
            Approve<span className="sr-only"> {escapeInvisible(name)}</span>
          </Button>
        )}
      </div>
      {unapproved.length > 0 && (
        <details open className="mt-2">
          <summary className="cursor-pointer text-sm">What the model reads</summary>
          <ScrollRegion
            label={`What the model reads of ${escapeInvisible(name)}`}
            className="mt-2 max-h-96 overflow-auto rounded-md border bg-paper px-3 py-2"
          >
            {unapproved.map((tool) => (
              <pre
                key={tool.name}
                className="mb-3 whitespace-pre-wrap font-mono text-xs leading-relaxed [overflow-wrap:anywhere] last:mb-0"
              >
                {formatMetadata(tool)}
              </pre>
            ))}
          </ScrollRegion>
        </details>
      )}
    </div>
  );
}

function formatMetadata({ name, description, input }: McpToolMetadata): string {
  return escapeInvisible([name, description, JSON.stringify(input, undefined, 2)].join("\n"));
}

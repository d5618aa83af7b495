import { FileText, X } from "lucide-react";
import type { ReactNode } from "react";
import { escapeBidi } from "../../ui/escape-text.ts";
import type { Attachment } from "./attachments.ts";

type AttachmentListProps = {
  readonly attachments: readonly Attachment[];
  readonly onRemove: (id: string) => void;
};

/** Attachments of the message that is being written. */
export function AttachmentList({ attachments, onRemove }: AttachmentListProps): ReactNode {
  if (attachments.length === 0) return null;
  return (
    <ul aria-label="Attached" className="flex flex-wrap gap-2 px-3 pt-3">
      {attachments.map(({ id, name, size, part }) => (
        <li
          key={id}
          className="flex h-11 max-w-60 items-center gap-2 rounded-md border bg-paper pl-1.5 pr-1 text-xs"
        >
          {part.type === "image" && part.data !== undefined ? (
            <img
              src={`data:${part.mediaType};base64,${part.data}`}
              alt=""
              className="size-8 shrink-0 rounded object-cover"
            />
          ) : (
            <FileText size={16} aria-hidden="true" className="ml-1 shrink-0 text-quiet" />
          )}
          <span className="min-w-0">
            <span className="block truncate font-medium">{escapeBidi(name)}</span>
            <span className="block text-faint tabular-nums">{formatSize(size)}</span>
          </span>
          <button
            type="button"
            aria-label={`Remove ${name}`}
            onClick={() => onRemove(id)}
            className="inline-flex size-6 shrink-0 items-center justify-center rounded text-quiet hover:bg-sunken hover:text-ink"
          >
            <X size={13} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Formats a number of bytes. */
export function formatSize(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.max(1, Math.round(bytes / 1000))} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

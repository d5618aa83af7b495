import type { Part } from "capstan";
import { ChevronLeft, ChevronRight, Pencil } from "lucide-react";
import { memo, type NamedExoticComponent, type ReactNode, useEffect, useRef, useState } from "react";
import { runWithToast } from "../../shell/toasts.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { getUserLabel, type Item } from "./build-items.ts";
import { getAttachedParts, getTypedText, UserContent } from "./user-content.tsx";

type UserItem = Extract<Item, { readonly type: "user" }>;

type UserMessageProps = {
  readonly item: UserItem;
  /** Index of the branch that is shown. */
  readonly branch: number;
  readonly branches: number;
  readonly isEditing: boolean;
  readonly onEdit: (item: UserItem | undefined) => void;
  readonly onResend: (item: UserItem, content: string | readonly Part[]) => Promise<void>;
  readonly onBranch: (item: UserItem, step: number) => void;
};

/** A user message. Editing it starts a new branch. */
export const UserMessage: NamedExoticComponent<UserMessageProps> = memo(function UserMessage(
  props: UserMessageProps,
): ReactNode {
  const { item, branch, branches, isEditing, onEdit, onBranch } = props;
  const { content } = item.entry;
  const canEdit = item.startSeq !== undefined;
  if (isEditing) return <EditForm {...props} />;
  return (
    <article aria-label={getUserLabel(item)} className="group flex flex-col items-end gap-1">
      <div className="grid max-w-[85%] gap-2 rounded-xl bg-line/55 px-4 py-2.5">
        <UserContent content={content} />
      </div>
      <div className="flex h-7 items-center gap-0.5 text-xs text-quiet">
        <div className="flex opacity-0 focus-within:opacity-100 group-hover:opacity-100 [@media(hover:none)]:opacity-100">
          <CopyButton label="Copy" text={() => getTypedText(content)} />
          {canEdit && (
            <IconButton label="Edit message" className="size-7!" onClick={() => onEdit(item)}>
              <Pencil size={13} />
            </IconButton>
          )}
        </div>
        {!canEdit && !item.entry.provenance && <span className="px-1 text-faint">Sent during the run</span>}
        {item.entry.provenance && <span className="px-1 text-faint">{getUserLabel(item)}</span>}
        {branches > 1 && (
          <fieldset className="flex items-center" aria-label="Branches">
            <IconButton
              label="Previous branch"
              className="size-7!"
              disabled={branch === 0}
              onClick={() => onBranch(item, -1)}
            >
              <ChevronLeft size={14} />
            </IconButton>
            <span className="tabular-nums">
              {branch + 1}/{branches}
            </span>
            <IconButton
              label="Next branch"
              className="size-7!"
              disabled={branch === branches - 1}
              onClick={() => onBranch(item, 1)}
            >
              <ChevronRight size={14} />
            </IconButton>
          </fieldset>
        )}
      </div>
    </article>
  );
});

function EditForm({ item, onEdit, onResend }: UserMessageProps): ReactNode {
  const { content } = item.entry;
  const [text, setText] = useState(() => getTypedText(content));
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const { current } = field;
    current?.focus();
    current?.setSelectionRange(current.value.length, current.value.length);
  }, []);
  async function resend(): Promise<void> {
    const attachments = getAttachedParts(content);
    setBusy(true);
    try {
      await onResend(item, attachments.length > 0 ? [{ type: "text", text }, ...attachments] : text);
      onEdit(undefined);
    } finally {
      setBusy(false);
    }
  }
  return (
    <form
      className="grid gap-2 rounded-xl border bg-raised p-3"
      onSubmit={(event) => {
        event.preventDefault();
        runWithToast(resend);
      }}
    >
      <textarea
        ref={field}
        aria-label="Edit your message"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.stopPropagation();
            onEdit(undefined);
          } else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            if (text.trim() !== "") runWithToast(resend);
          }
        }}
        className="field-sizing-content max-h-60 min-h-16 w-full resize-none bg-transparent outline-none"
      />
      <div className="flex items-center justify-end gap-2">
        <p className="mr-auto text-xs text-faint">Creates a new branch and keeps this one.</p>
        <Button size="small" kind="quiet" onClick={() => onEdit(undefined)}>
          Cancel
        </Button>
        <Button size="small" kind="main" type="submit" disabled={isBusy || text.trim() === ""}>
          Submit
        </Button>
      </div>
    </form>
  );
}

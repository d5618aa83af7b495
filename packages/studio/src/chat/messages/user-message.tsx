import type { Part } from "capstan";
import { ChevronLeft, ChevronRight, Pencil } from "lucide-react";
import { memo, type NamedExoticComponent, type ReactNode, useEffect, useRef, useState } from "react";
import { attempt } from "../../shell/toasts.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { CopyText } from "../../ui/copy-text.tsx";
import type { Item } from "./build-items.ts";
import { attachedParts, typedText, UserContent } from "./user-content.tsx";

type UserItem = Extract<Item, { readonly type: "user" }>;

type UserMessageProps = {
  readonly item: UserItem;
  /** Which of how many ways to go on is shown, from 0. */
  readonly branch: number;
  readonly branches: number;
  readonly isEditing: boolean;
  readonly onEdit: (item: UserItem | undefined) => void;
  readonly onSay: (item: UserItem, content: string | readonly Part[]) => Promise<void>;
  readonly onBranch: (item: UserItem, step: number) => void;
};

/** What a person said. Saying it differently begins a new branch; the old one stays. */
export const UserMessage: NamedExoticComponent<UserMessageProps> = memo(function UserMessage(
  props: UserMessageProps,
): ReactNode {
  const { item, branch, branches, isEditing, onEdit, onBranch } = props;
  const { content } = item.entry;
  const mayEdit = item.startSeq !== undefined;
  if (isEditing) return <EditForm {...props} />;
  return (
    <article aria-label="You say" className="group flex flex-col items-end gap-1">
      <div className="grid max-w-[85%] gap-2 rounded-xl bg-line/55 px-4 py-2.5">
        <UserContent content={content} />
      </div>
      <div className="flex h-7 items-center gap-0.5 text-xs text-quiet">
        <div className="flex opacity-0 focus-within:opacity-100 group-hover:opacity-100 [@media(hover:none)]:opacity-100">
          <CopyText label="Copy" text={() => typedText(content)} />
          {mayEdit && (
            <IconButton label="Edit and ask again" className="size-7!" onClick={() => onEdit(item)}>
              <Pencil size={13} />
            </IconButton>
          )}
        </div>
        {!mayEdit && <span className="px-1 text-faint">Said on the way</span>}
        {branches > 1 && (
          <fieldset className="flex items-center" aria-label="Branches">
            <IconButton
              label="Branch before"
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

function EditForm({ item, onEdit, onSay }: UserMessageProps): ReactNode {
  const { content } = item.entry;
  const [text, setText] = useState(() => typedText(content));
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const { current } = field;
    current?.focus();
    current?.setSelectionRange(current.value.length, current.value.length);
  }, []);
  async function say(): Promise<void> {
    const kept = attachedParts(content);
    setBusy(true);
    try {
      await onSay(item, kept.length > 0 ? [{ type: "text", text }, ...kept] : text);
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
        attempt(say);
      }}
    >
      <textarea
        ref={field}
        aria-label="Edit what you said"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.stopPropagation();
            onEdit(undefined);
          } else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            if (text.trim() !== "") attempt(say);
          }
        }}
        className="field-sizing-content max-h-60 min-h-16 w-full resize-none bg-transparent outline-none"
      />
      <div className="flex items-center justify-end gap-2">
        <p className="mr-auto text-xs text-faint">A new branch; this one stays.</p>
        <Button size="small" kind="quiet" onClick={() => onEdit(undefined)}>
          Cancel
        </Button>
        <Button size="small" kind="main" type="submit" disabled={isBusy || text.trim() === ""}>
          Ask again
        </Button>
      </div>
    </form>
  );
}

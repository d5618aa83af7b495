import type { Part } from "capstan";
import { ArrowUp, Paperclip, Square } from "lucide-react";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { showToast } from "../../shell/toasts.tsx";
import { IconButton } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { AttachmentList } from "./attachment-list.tsx";
import { type Attachment, acceptedTypes, addFiles, attachmentRules } from "./attachments.ts";
import { type RunChoice, RunChoices } from "./run-choices.tsx";

export type ComposerProps = {
  /** Identifies the draft. */
  readonly draftKey: string;
  readonly placeholder: string;
  /** While a run is active, messages are sent to it. */
  readonly isRunning: boolean;
  readonly choice: RunChoice;
  /** Shows no field for the agent. */
  readonly hidesAgent?: boolean;
  readonly onChoice: (choice: RunChoice) => void;
  /** The typed text is kept until this resolves. */
  readonly onSend: (input: string | readonly Part[]) => Promise<void>;
  readonly onTextChange?: (text: string) => void;
  readonly onStop?: () => void;
  readonly onEditLast?: () => void;
};

/** The message input with attachments, agent and model. */
export function Composer(props: ComposerProps): ReactNode {
  const { draftKey, placeholder, isRunning, onSend, onTextChange, onEditLast } = props;
  const [text, setText] = useDraft(draftKey);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const files = useAttachments();
  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) field.current?.focus();
  }, []);
  useEffect(() => onTextChange?.(text), [text, onTextChange]);
  const canSend = !isBusy && (text.trim() !== "" || (files.attachments.length > 0 && !isRunning));

  async function send(): Promise<void> {
    if (!canSend) return;
    const parts = isRunning ? [] : files.attachments.map(({ part }) => part);
    const typedParts: readonly Part[] = text.trim() === "" ? [] : [{ type: "text", text }];
    setBusy(true);
    try {
      await onSend(parts.length > 0 ? [...typedParts, ...parts] : text);
      setText("");
      if (!isRunning) files.clear();
    } catch (error) {
      showToast(error instanceof Error ? error.message : String(error), { isBad: true });
    } finally {
      setBusy(false);
      field.current?.focus();
    }
  }
  function onKeyDown(event: React.KeyboardEvent<HTMLTextAreaElement>): void {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      void send();
    } else if (event.key === "ArrowUp" && text === "" && onEditLast) {
      event.preventDefault();
      onEditLast();
    }
  }
  return (
    <form
      className={classNames(
        "rounded-xl border bg-raised transition-colors focus-within:border-accent/60",
        files.isOver && "border-accent",
      )}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      {...files.drop}
    >
      <AttachmentList attachments={files.attachments} onRemove={files.remove} />
      <textarea
        ref={field}
        data-prompt=""
        aria-label={placeholder.replace(/…$/, "")}
        placeholder={placeholder}
        rows={1}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          void files.add([...event.clipboardData.files]);
        }}
        className="field-sizing-content block max-h-[15.5rem] min-h-11 w-full resize-none bg-transparent px-4 pb-1 pt-3 outline-none placeholder:text-faint"
      />
      <Controls {...props} field={field} files={files} canSend={canSend} hasText={text.trim() !== ""} />
    </form>
  );
}

type ControlsProps = ComposerProps & {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly files: Attachments;
  readonly canSend: boolean;
  readonly hasText: boolean;
};

function Controls({
  isRunning,
  onStop,
  choice,
  hidesAgent = false,
  onChoice,
  files,
  canSend,
  hasText,
}: ControlsProps): ReactNode {
  const fileInput = useRef<HTMLInputElement>(null);
  const buttonStyle =
    "inline-flex size-8 pointer-coarse:size-11 shrink-0 items-center justify-center rounded-lg";
  return (
    <div className="flex items-center gap-1 px-2 pb-2">
      <input
        ref={fileInput}
        type="file"
        multiple
        hidden
        accept={acceptedTypes}
        onChange={({ target }) => {
          void files.add([...(target.files ?? [])]);
          target.value = "";
        }}
      />
      <IconButton
        label="Attach files"
        title={attachmentRules}
        disabled={isRunning}
        onClick={() => fileInput.current?.click()}
      >
        <Paperclip size={16} />
      </IconButton>
      {!isRunning && <RunChoices choice={choice} hidesAgent={hidesAgent} onChange={onChoice} />}
      <span className="flex-1" />
      {isRunning && !hasText ? (
        <button
          type="button"
          aria-label="Stop"
          title="Stop (Esc)"
          onClick={onStop}
          className={classNames(buttonStyle, "bg-ink text-paper")}
        >
          <Square size={12} fill="currentColor" />
        </button>
      ) : (
        <button
          type="submit"
          aria-label={isRunning ? "Steer" : "Send"}
          title={isRunning ? "Steer" : "Send"}
          disabled={!canSend}
          className={classNames(
            buttonStyle,
            "bg-accent text-accent-ink disabled:bg-line disabled:text-faint",
          )}
        >
          <ArrowUp size={17} />
        </button>
      )}
    </div>
  );
}

type Attachments = ReturnType<typeof useAttachments>;

function useAttachments() {
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const [isOver, setOver] = useState(false);
  async function add(files: readonly File[]): Promise<void> {
    const next = await addFiles(attachments, files);
    setAttachments(next.attachments);
    for (const problem of next.problems) showToast(problem, { isBad: true });
  }
  return {
    attachments,
    isOver,
    add,
    clear: () => setAttachments([]),
    remove: (id: string) => setAttachments(attachments.filter((attachment) => attachment.id !== id)),
    drop: {
      onDragOver(event: React.DragEvent) {
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop(event: React.DragEvent) {
        event.preventDefault();
        setOver(false);
        void add([...event.dataTransfer.files]);
      },
    },
  };
}

/** Keeps unsent text per session while the tab is open. */
export function useDraft(draftKey: string): readonly [string, (text: string) => void] {
  const storageKey = `capstan-draft ${draftKey}`;
  const [text, setText] = useState(() => sessionStorage.getItem(storageKey) ?? "");
  return [
    text,
    (next) => {
      setText(next);
      if (next === "") sessionStorage.removeItem(storageKey);
      else sessionStorage.setItem(storageKey, next.slice(0, 200_000));
    },
  ];
}

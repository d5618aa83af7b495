import type { ExportFormat, ListedSession } from "capstan/client";
import { Download, Pencil, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { client } from "../data/client.ts";
import { deleteSession } from "../data/open-session.ts";
import { useSessionList } from "../data/session-list.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { Menu } from "../ui/menu.tsx";
import { SessionMenuTrigger } from "./session-menu-trigger.tsx";
import { runWithToast } from "./toasts.tsx";
import { useSingleFlight } from "./use-single-flight.ts";

export type SessionMenuProps = {
  readonly session: Pick<ListedSession, "id" | "title">;
  /** Whether this session is shown. */
  readonly isOpen?: boolean;
  /** Opens the menu at once. */
  readonly isMenuOpen?: boolean;
};

const formats: readonly { readonly format: ExportFormat; readonly name: string }[] = [
  { format: "markdown", name: "Markdown" },
  { format: "html", name: "HTML" },
  { format: "json", name: "JSON" },
];

/** Menu with session actions. */
export function SessionMenu({ session, isOpen = false, isMenuOpen = false }: SessionMenuProps): ReactNode {
  const [dialog, setDialog] = useState<"rename" | "remove">();
  const close = () => setDialog(undefined);
  const exportAs = (format: ExportFormat) =>
    open(`/api/sessions/${encodeURIComponent(session.id)}/export?format=${format}`, "_self");
  const items = [
    { label: "Rename", icon: <Pencil size={14} />, onSelect: () => setDialog("rename") },
    ...formats.map(({ format, name }) => ({
      label: `Export as ${name}`,
      icon: <Download size={14} />,
      onSelect: () => exportAs(format),
    })),
    { label: "Delete", icon: <Trash2 size={14} />, isDangerous: true, onSelect: () => setDialog("remove") },
  ];
  return (
    <>
      <Menu items={items} isInitiallyOpen={isMenuOpen} trigger={<SessionMenuTrigger session={session} />} />
      <Dialog title="Rename" isOpen={dialog === "rename"} onClose={close}>
        <RenameForm session={session} onDone={close} />
      </Dialog>
      <Dialog
        title="Delete this session?"
        description={`“${escapeBidi(session.title)}” and all its messages will be deleted.`}
        isOpen={dialog === "remove"}
        onClose={close}
      >
        <RemoveButtons session={session} isOpen={isOpen} onDone={close} />
      </Dialog>
    </>
  );
}

type ChangeProps = SessionMenuProps & { onDone(): void };

function RemoveButtons({ session, isOpen, onDone }: ChangeProps): ReactNode {
  const [, navigate] = useLocation();
  const refresh = useSessionList((list) => list.refresh);
  const runOnce = useSingleFlight();
  async function remove(): Promise<void> {
    await deleteSession(session.id);
    onDone();
    if (isOpen) navigate("/");
    await refresh();
  }
  return (
    <div className="flex justify-end gap-2">
      <Button onClick={onDone}>Cancel</Button>
      <Button kind="danger" onClick={() => runWithToast(() => runOnce(remove))}>
        Delete
      </Button>
    </div>
  );
}

function RenameForm({ session, onDone }: ChangeProps): ReactNode {
  const [title, setTitle] = useState(session.title);
  const refresh = useSessionList((list) => list.refresh);
  async function saveTitle(): Promise<void> {
    await client.sessions.rename(session.id, title.trim());
    onDone();
    await refresh();
  }
  return (
    <form
      className="flex gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        runWithToast(saveTitle);
      }}
    >
      <input
        aria-label="Title"
        value={title}
        maxLength={200}
        onChange={({ target }) => setTitle(target.value)}
        className="h-9 min-w-0 flex-1 rounded-md border bg-paper px-3 text-sm"
      />
      <Button kind="main" type="submit">
        Save
      </Button>
    </form>
  );
}

import { type ReactNode, useRef, useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";

type FormDialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  /** Receives a close function and a callback for unsaved changes. */
  readonly children: (form: {
    readonly close: () => void;
    readonly onDirtyChange: (isDirty: boolean) => void;
  }) => ReactNode;
};

/** A form in a side panel. Asks before discarding unsaved changes. */
export function FormDialog({ title, onClose, children }: FormDialogProps): ReactNode {
  const isDirty = useRef(false);
  const [isConfirming, setConfirming] = useState(false);
  const [onDirtyChange] = useState(() => (next: boolean) => {
    isDirty.current = next;
  });
  const close = () => (isDirty.current ? setConfirming(true) : onClose());
  const keepEditing = () => setConfirming(false);
  return (
    <Dialog title={title} isOpen onClose={close} placement="side">
      {children({ close, onDirtyChange })}
      <Dialog title="Discard changes?" isOpen={isConfirming} onClose={keepEditing}>
        <div className="flex justify-end gap-2">
          <Button data-first onClick={keepEditing}>
            Keep editing
          </Button>
          <Button kind="danger" onClick={onClose}>
            Discard
          </Button>
        </div>
      </Dialog>
    </Dialog>
  );
}

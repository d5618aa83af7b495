import { type ReactNode, useRef, useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";

type FormDialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  /** Gets how to close it, and how to say that something in it would be lost by that. */
  readonly children: (form: {
    readonly close: () => void;
    readonly onTyped: (isTyped: boolean) => void;
  }) => ReactNode;
};

/** A form at the side. However it is closed, what was typed is not thrown away unasked. */
export function FormDialog({ title, onClose, children }: FormDialogProps): ReactNode {
  const isTyped = useRef(false);
  const [isAsking, setAsking] = useState(false);
  const [onTyped] = useState(() => (next: boolean) => {
    isTyped.current = next;
  });
  const close = () => (isTyped.current ? setAsking(true) : onClose());
  const stay = () => setAsking(false);
  return (
    <Dialog title={title} isOpen onClose={close} place="side">
      {children({ close, onTyped })}
      <Dialog title="Discard what you have typed?" isOpen={isAsking} onClose={stay}>
        <div className="flex justify-end gap-2">
          <Button data-first onClick={stay}>
            Go on writing
          </Button>
          <Button kind="danger" onClick={onClose}>
            Discard
          </Button>
        </div>
      </Dialog>
    </Dialog>
  );
}

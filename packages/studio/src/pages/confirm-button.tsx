import { type ReactNode, useState } from "react";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";

type ConfirmButtonProps = {
  /** The action, on both buttons. */
  readonly label: string;
  /** Accessible name, with the object of the action. */
  readonly name: string;
  /** What happens, in one sentence. */
  readonly consequence: string;
  readonly onConfirm: () => Promise<unknown>;
  /** Default: `small`. */
  readonly size?: "normal" | "small";
};

/** A button for an action that cannot be undone. Asks first. */
export function ConfirmButton(props: ConfirmButtonProps): ReactNode {
  const { label, name, consequence, onConfirm, size = "small" } = props;
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button size={size} aria-label={name} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog title={`${name}?`} description={consequence} isOpen={isOpen} onClose={close}>
        <div className="flex justify-end gap-2">
          <Button data-first onClick={close}>
            Keep
          </Button>
          <Button
            kind="danger"
            onClick={() => {
              close();
              runWithToast(onConfirm);
            }}
          >
            {label}
          </Button>
        </div>
      </Dialog>
    </>
  );
}

import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { IconButton } from "../ui/button.tsx";

type CopyButtonProps = {
  readonly label: string;
  /** Made when it is wanted, for a large table is not written out for nothing. */
  readonly text: () => string;
};

/** Copies, and says for a moment whether that worked. */
export function CopyButton({ label, text }: CopyButtonProps): ReactNode {
  const [state, setState] = useState<"idle" | "copied" | "refused">("idle");
  useEffect(() => {
    if (state === "idle") return;
    const timer = setTimeout(() => setState("idle"), 1600);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = (): void => {
    const written = navigator.clipboard?.writeText(text()) ?? Promise.reject(new Error("no clipboard"));
    written.then(
      () => setState("copied"),
      () => setState("refused"),
    );
  };
  const words = { idle: label, copied: "Copied", refused: "The browser does not allow to copy" };
  return (
    <IconButton label={words[state]} onClick={copy} className="size-7">
      {state === "copied" ? <Check size={14} className="text-good" /> : <Copy size={14} />}
    </IconButton>
  );
}

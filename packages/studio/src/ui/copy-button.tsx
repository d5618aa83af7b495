import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { showToast } from "../shell/toasts.tsx";
import { IconButton } from "./button.tsx";

type CopyButtonProps = {
  readonly label: string;
  /** Called on click, so that large texts are only built when they are needed. */
  readonly text: () => string;
  /** Default: two sheets. */
  readonly icon?: ReactNode;
};

const feedbackMs = 1600;

/** Copies a text to the clipboard and confirms it for a moment. */
export function CopyButton({ label, text, icon }: CopyButtonProps): ReactNode {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), feedbackMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text());
      setCopied(true);
    } catch {
      showToast("Could not copy: clipboard access was denied", { isBad: true });
    }
  }
  return (
    <IconButton label={isCopied ? "Copied" : label} className="size-7!" onClick={() => void copy()}>
      {isCopied ? <Check size={14} className="text-good" /> : (icon ?? <Copy size={14} />)}
    </IconButton>
  );
}

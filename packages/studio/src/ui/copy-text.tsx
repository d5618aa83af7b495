import { Check, Copy } from "lucide-react";
import { type ReactNode, useState } from "react";
import { attempt } from "../shell/toasts.tsx";
import { IconButton } from "./button.tsx";

const shownMs = 1500;

/** Puts a text into the clipboard, and says so. */
export function CopyText({
  text,
  label,
}: {
  readonly text: () => string;
  readonly label: string;
}): ReactNode {
  const [isDone, setDone] = useState(false);
  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(text());
    setDone(true);
    setTimeout(() => setDone(false), shownMs);
  }
  return (
    <IconButton label={isDone ? "Copied" : label} className="size-7!" onClick={() => attempt(copy)}>
      {isDone ? <Check size={14} /> : <Copy size={14} />}
    </IconButton>
  );
}

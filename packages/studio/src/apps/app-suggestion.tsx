import { type ReactNode, useState } from "react";
import { useConversation } from "../chat/conversation-context.ts";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { escapeInvisible } from "../ui/escape-text.ts";
import { useMisclickGuard } from "../ui/use-misclick-guard.ts";

/** A message that an app wants the user to send. */
export type Suggestion = { readonly text: string; resolve(isSent: boolean): void };

type AppSuggestionProps = { readonly suggestion: Suggestion; readonly onDecided: () => void };

/** Shows the whole message. Only the user can send it, and it stays the app's text: it names no target. */
export function AppSuggestion({ suggestion, onDecided }: AppSuggestionProps): ReactNode {
  const { sendMessage } = useConversation();
  const [isBusy, setBusy] = useState(false);
  const { ref, guardClick } = useMisclickGuard();
  function decide(isSent: boolean): void {
    suggestion.resolve(isSent);
    onDecided();
  }
  async function send(): Promise<void> {
    setBusy(true);
    await sendMessage?.(suggestion.text, "application").finally(() => setBusy(false));
    decide(true);
  }
  return (
    <fieldset aria-label="Message from the app" className="grid gap-2 border-t px-3 py-2 text-sm">
      <p className="text-quiet">The app suggests that you send this message:</p>
      <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{escapeInvisible(suggestion.text)}</p>
      <div ref={ref} className="flex gap-2">
        <Button size="small" kind="main" disabled={isBusy} onClick={guardClick(() => runWithToast(send))}>
          Send
        </Button>
        <Button size="small" onClick={() => decide(false)}>
          Dismiss
        </Button>
      </div>
    </fieldset>
  );
}

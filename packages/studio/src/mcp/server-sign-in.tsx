import type { McpServerInfo } from "capstan/client";
import { type ReactNode, useState } from "react";
import { client } from "../data/client.ts";
import { runWithToast, showToast } from "../shell/toasts.tsx";
import { Button, getButtonStyle } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { escapeInvisible } from "../ui/escape-text.ts";

type ServerSignInProps = {
  readonly server: McpServerInfo;
  /** Called when a sign-in has started or ended, to follow its state. */
  readonly onChange: () => void;
};

/** Starts a sign-in to a server. Shows where it leads before the page opens. */
export function ServerSignIn({ server, onChange }: ServerSignInProps): ReactNode {
  const [page, setPage] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { name } = server;
  const begin = () =>
    runWithToast(async () => {
      setBusy(true);
      try {
        const found = await client.mcp.signIn(name);
        if (found === undefined) showToast(`${name} asks for no sign-in`);
        else setPage(found);
        onChange();
      } finally {
        setBusy(false);
      }
    });
  const close = () => {
    setPage(undefined);
    onChange();
  };
  return (
    <>
      <Button size="small" kind="main" disabled={isBusy} onClick={begin}>
        Sign in<span className="sr-only"> to {escapeInvisible(name)}</span>
      </Button>
      <Dialog
        title={`Sign in to ${escapeInvisible(name)}`}
        description="The page below belongs to the server, not to Capstan. It sends you back here."
        isOpen={page !== undefined}
        onClose={close}
      >
        <p className="font-medium [overflow-wrap:anywhere]">
          {escapeInvisible(URL.parse(page ?? "")?.host ?? "")}
        </p>
        <p className="mt-1 max-h-32 overflow-y-auto font-mono text-xs text-quiet [overflow-wrap:anywhere]">
          {escapeInvisible(page ?? "")}
        </p>
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          {page !== undefined && /^https?:/.test(page) && (
            <a
              data-first
              href={page}
              target="_blank"
              rel="noopener noreferrer"
              className={getButtonStyle("main")}
              onClick={() => setTimeout(close)}
            >
              Open the page
            </a>
          )}
        </div>
      </Dialog>
    </>
  );
}

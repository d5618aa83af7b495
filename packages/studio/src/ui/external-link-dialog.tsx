import { ExternalLink } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button, getButtonStyle } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { getHost, type PendingLink, trustHost, usePendingLink } from "./external-link.tsx";
import { ScrollRegion } from "./scroll-region.tsx";
import { useMisclickGuard } from "./use-misclick-guard.ts";

/** Shows the target of an external link before it is opened. */
export function ExternalLinkDialog(): ReactNode {
  const { link } = usePendingLink();
  return (
    <Dialog
      title="Open this link?"
      description="This link comes from the conversation and has not been verified."
      isOpen={link !== undefined}
      onClose={cancel}
    >
      {link && <LinkConfirmation key={link.href} link={link} />}
    </Dialog>
  );
}

const cancel = () => usePendingLink.setState({ link: undefined });

function LinkConfirmation({ link: { href, address } }: { readonly link: PendingLink }): ReactNode {
  const [isTrusted, setTrusted] = useState(false);
  const { ref, guardClick } = useMisclickGuard();
  const host = getHost(href);
  const onOpen = guardClick(() => {
    if (isTrusted) trustHost(host);
    cancel();
  });
  return (
    <>
      <p className="font-semibold text-lg [overflow-wrap:anywhere]">{host || address}</p>
      <ScrollRegion
        label="Address"
        className="mt-1 max-h-32 overflow-y-auto font-mono text-quiet text-xs [overflow-wrap:anywhere]"
      >
        {address}
      </ScrollRegion>
      {host !== "" && (
        <label className="mt-4 flex items-center gap-2 text-sm">
          <input
            type="checkbox"
            checked={isTrusted}
            onChange={(event) => setTrusted(event.target.checked)}
            className="accent-accent"
          />
          Always open links to {host}
        </label>
      )}
      <div ref={ref} className="mt-5 flex justify-end gap-2">
        <Button onClick={cancel}>Cancel</Button>
        <a
          href={href}
          target="_blank"
          rel="noopener noreferrer nofollow"
          className={getButtonStyle("main")}
          onClick={onOpen}
          onAuxClick={onOpen}
          data-first
        >
          Open
          <ExternalLink size={14} aria-hidden />
        </a>
      </div>
    </>
  );
}

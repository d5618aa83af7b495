import { ExternalLink } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button, buttonLook } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { hostOf, type Leaving, trustHost, useLeaving } from "./outside-link.tsx";

/** Shows where a link leads before it is opened. */
export function LeavingDialog(): ReactNode {
  const { link } = useLeaving();
  return (
    <Dialog
      title="Open this link?"
      description="It was written in the conversation, and nobody has checked it."
      isOpen={link !== undefined}
      onClose={stay}
    >
      {link && <Choice key={link.href} link={link} />}
    </Dialog>
  );
}

const stay = () => useLeaving.setState({ link: undefined });

function Choice({ link: { href, address } }: { readonly link: Leaving }): ReactNode {
  const [isTrusted, setTrusted] = useState(false);
  const host = hostOf(href);
  const leave = () => {
    if (isTrusted) trustHost(host);
    stay();
  };
  return (
    <>
      <p className="font-semibold text-lg [overflow-wrap:anywhere]">{host || address}</p>
      <p className="mt-1 max-h-32 overflow-y-auto font-mono text-quiet text-xs [overflow-wrap:anywhere]">
        {address}
      </p>
      {host !== "" && (
        <label className="mt-4 flex items-center gap-2 text-sm">
          <input
            type="checkbox"
            checked={isTrusted}
            onChange={(event) => setTrusted(event.target.checked)}
            className="accent-accent"
          />
          Do not ask again for {host}
        </label>
      )}
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={stay}>Stay here</Button>
        <a
          href={href}
          target="_blank"
          rel="noopener noreferrer nofollow"
          className={buttonLook("main")}
          onClick={leave}
          data-first
        >
          Open
          <ExternalLink size={14} aria-hidden />
        </a>
      </div>
    </>
  );
}

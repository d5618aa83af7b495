import { type ReactNode, useEffect } from "react";
import { useOwnData } from "../own-data/own-data-state.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { usePendingLink } from "../ui/external-link.tsx";
import { lazy } from "../ui/lazy.tsx";
import { useLayout } from "./layout-state.ts";
import { showToast } from "./toasts.tsx";

const ExternalLinkDialog = lazy(
  async () => ({ default: (await import("../ui/external-link-dialog.tsx")).ExternalLinkDialog }),
  null,
);
const HelpSheet = lazy(async () => ({ default: (await import("./help-sheet.tsx")).HelpSheet }), null);
const OwnDataDialog = lazy(
  async () => ({ default: (await import("../own-data/own-data-dialog.tsx")).OwnDataDialog }),
  null,
);
const Palette = lazy(async () => ({ default: (await import("./palette.tsx")).Palette }), null);

/** The dialogs that any page can open, each loaded when it is first opened. */
export function Dialogs(): ReactNode {
  const dialog = useLayout((layout) => layout.dialog);
  const hasLink = usePendingLink(({ link }) => link !== undefined);
  const hasOwnData = useOwnData((ownData) => ownData.dialog !== undefined);
  return (
    <>
      <OnDemand isOpen={dialog === "palette"}>
        <Palette />
      </OnDemand>
      <OnDemand isOpen={dialog === "help"}>
        <HelpSheet />
      </OnDemand>
      <OnDemand isOpen={hasOwnData}>
        <OwnDataDialog />
      </OnDemand>
      <OnDemand isOpen={hasLink}>
        <ExternalLinkDialog />
      </OnDemand>
    </>
  );
}

function OnDemand({
  isOpen,
  children,
}: {
  readonly isOpen: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return isOpen && <ErrorBoundary fallback={<LoadFailure />}>{children}</ErrorBoundary>;
}

function LoadFailure(): ReactNode {
  useEffect(() => showToast("The server could not be reached. Reload the page.", { isBad: true }), []);
  return null;
}

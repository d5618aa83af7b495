import { Link2 } from "lucide-react";
import type { ReactNode } from "react";
import { CopyButton } from "../../ui/copy-button.tsx";

/** Copies the address of a run, for users of this deployment who may see it. */
export function CopyRunLink({ runId }: { readonly runId: string }): ReactNode {
  return (
    <CopyButton
      label="Copy link to this run"
      icon={<Link2 size={15} />}
      text={() => `${location.origin}/runs/${encodeURIComponent(runId)}`}
    />
  );
}

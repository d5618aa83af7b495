import type { StuckRun } from "capstan/client";
import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";

type StuckMessageProps = { readonly reason: StuckRun["reason"]; readonly onCancel: () => void };

/** The reason, and a button that ends the run unless a newer version owns it. */
export function StuckMessage({ reason: { code, message }, onCancel }: StuckMessageProps): ReactNode {
  return (
    <div
      role="alert"
      data-stuck=""
      className="mx-auto mb-2 flex w-full max-w-3xl items-start gap-2.5 rounded-lg border border-warn/30 bg-warn-soft px-4 py-3 text-sm"
    >
      <TriangleAlert size={16} aria-hidden="true" className="mt-0.5 shrink-0 text-warn" />
      <p className="min-w-0 flex-1 text-warn [overflow-wrap:anywhere]">
        This run cannot continue. {escapeBidi(message)}
      </p>
      {code !== "newer_version" && (
        <Button size="small" onClick={onCancel}>
          Cancel the run
        </Button>
      )}
    </div>
  );
}

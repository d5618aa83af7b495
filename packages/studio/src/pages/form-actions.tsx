import type { ReactNode } from "react";

/** The buttons of a form in a dialog, which stay visible while its fields are scrolled. */
export function FormActions({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="sticky -bottom-4 -mx-5 -mb-4 flex flex-wrap items-center justify-end gap-2 border-t bg-raised px-5 py-3">
      {children}
    </div>
  );
}

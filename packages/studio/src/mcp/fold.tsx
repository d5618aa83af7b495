import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";

type FoldProps = {
  readonly title: string;
  /** Shown instead of an empty section. */
  readonly emptyText?: string;
  /** A function is called while the section is open, so that it loads nothing before. */
  readonly children: ReactNode | (() => ReactNode);
};

/** A section of a card that opens. */
export function Fold({ title, emptyText, children }: FoldProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (emptyText !== undefined)
    return <p className="border-t px-4 py-2 pl-9.5 text-sm text-faint">{emptyText}</p>;
  return (
    <details className="group border-t" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="flex min-h-9 cursor-pointer list-none items-center gap-2 px-4 py-2 text-sm hover:bg-sunken/60 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          size={14}
          aria-hidden="true"
          className="text-faint transition-transform group-open:rotate-90"
        />
        {title}
      </summary>
      <div className="px-4 pb-3 sm:pl-9.5">
        {typeof children === "function" ? isOpen && children() : children}
      </div>
    </details>
  );
}

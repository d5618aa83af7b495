import { LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";

/** Loading indicator. Appears after a delay, so that fast loads do not flicker. */
export function Loading({ label = "Loading" }: { readonly label?: string }): ReactNode {
  return (
    <div
      role="status"
      className="flex animate-[appear_0.2s_0.3s_both] items-center gap-2 p-6 text-sm text-quiet"
    >
      <LoaderCircle size={16} className="animate-spin" aria-hidden="true" />
      {label}…
    </div>
  );
}

type EmptyStateProps = { readonly title: string; readonly children?: ReactNode; readonly action?: ReactNode };

/** Placeholder for empty content. */
export function EmptyState({ title, children, action }: EmptyStateProps): ReactNode {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-16 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="min-w-0 max-w-full text-sm text-quiet">{children}</div>}
      {action !== undefined && <div className="mt-3">{action}</div>}
    </div>
  );
}

type ErrorMessageProps = { readonly message: string; readonly onRetry?: () => void };

/** An error message with an optional retry. */
export function ErrorMessage({ message, onRetry }: ErrorMessageProps): ReactNode {
  return (
    <div role="alert" className="m-4 rounded-lg border border-bad/30 bg-bad-soft px-4 py-3 text-sm text-bad">
      {message}
      {onRetry && (
        <button type="button" onClick={onRetry} className="ml-2 font-medium underline">
          Try again
        </button>
      )}
    </div>
  );
}

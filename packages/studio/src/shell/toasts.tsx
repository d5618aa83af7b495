import type { ReactNode } from "react";
import { create } from "zustand";

type Toast = { readonly id: number; readonly text: string; readonly isBad: boolean };

const useToasts = create<{ readonly toasts: readonly Toast[] }>()(() => ({ toasts: [] }));
let count = 0;
const toastMs = 6000;

/** Shows a short message. */
export function showToast(text: string, { isBad = false }: { readonly isBad?: boolean } = {}): void {
  const id = ++count;
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts, { id, text, isBad }].slice(-3) }));
  setTimeout(
    () => useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) })),
    toastMs,
  );
}

/** Runs an action and shows a toast if it fails. */
export function runWithToast(action: () => Promise<unknown>): void {
  action().catch((error: unknown) =>
    showToast(error instanceof Error ? error.message : String(error), { isBad: true }),
  );
}

/** Shown at the top, because at the bottom they would cover the composer. */
export function Toasts(): ReactNode {
  const toasts = useToasts((state) => state.toasts);
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 top-14 z-60 flex flex-col items-center gap-2"
    >
      {toasts.map(({ id, text, isBad }) => (
        <div
          key={id}
          className={`pointer-events-auto max-w-[min(32rem,calc(100vw-2rem))] rounded-lg border bg-raised px-4 py-2.5 text-sm shadow-lifted ${isBad ? "border-bad/40 text-bad" : ""}`}
        >
          {text}
        </div>
      ))}
    </div>
  );
}

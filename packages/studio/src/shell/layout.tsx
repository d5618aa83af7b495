import type { ReactNode } from "react";
import { useHasView } from "../panel/panel-state.ts";
import { classNames } from "../ui/class-names.ts";
import { useLayout } from "./layout-state.ts";

type LayoutProps = {
  readonly list: ReactNode;
  readonly children: ReactNode;
  /** Shown next to a conversation only. */
  readonly inspector?: ReactNode;
};

/** Sidebar, main column and inspector. One column on a phone. */
export function Layout({ list, children, inspector }: LayoutProps): ReactNode {
  const { isListOpen, isInspectorOpen, set } = useLayout();
  const hasView = useHasView();
  return (
    <div className="flex h-full min-w-0 overflow-hidden">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent px-3 py-1.5 text-accent-ink focus:not-sr-only focus:fixed focus:left-3 focus:top-3"
      >
        Skip to content
      </a>
      {isListOpen && (
        <button
          type="button"
          aria-label="Close sidebar"
          className="fixed inset-0 z-20 bg-black/30 lg:hidden"
          onClick={() => set({ isListOpen: false })}
        />
      )}
      <aside
        aria-label="Sessions"
        hidden={!isListOpen}
        className={classNames(
          "z-30 flex w-72 shrink-0 flex-col border-r bg-sunken max-lg:fixed max-lg:inset-y-0 max-lg:left-0 max-lg:animate-from-left",
          !isListOpen && "hidden",
        )}
      >
        {list}
      </aside>
      <main id="main" className="flex min-w-0 flex-1 flex-col">
        {children}
      </main>
      {inspector !== undefined && (isInspectorOpen || hasView) && (
        <aside
          aria-label="Inspector"
          className={classNames(
            "z-10 flex w-[27rem] shrink-0 flex-col border-l bg-paper max-xl:fixed max-xl:inset-y-0 max-xl:right-0 max-xl:animate-from-right max-xl:shadow-lifted max-sm:w-full",
            !isInspectorOpen && "min-[1400px]:w-[33rem] 2xl:w-[38rem]",
          )}
        >
          {inspector}
        </aside>
      )}
    </div>
  );
}

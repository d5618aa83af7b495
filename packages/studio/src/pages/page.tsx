import type { ReactNode } from "react";
import { SidebarToggle } from "../shell/sidebar-toggle.tsx";

type PageProps = {
  readonly title: string;
  /** One sentence about the page. */
  readonly about: ReactNode;
  readonly actions?: ReactNode;
  /** For tables with many columns. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
};

/** A page with a title, actions and one column. */
export function Page({ title, about, actions, isWide = false, children }: PageProps): ReactNode {
  return (
    <>
      <header className="flex h-12 shrink-0 items-center gap-1 px-2 sm:px-3">
        <SidebarToggle />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto [scrollbar-gutter:stable]">
        <div className={`mx-auto px-4 pb-16 pt-2 sm:px-8 ${isWide ? "max-w-7xl" : "max-w-4xl"}`}>
          <div className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3 pb-6">
            <div className="min-w-0 flex-1 basis-72">
              <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
              <p className="mt-1 text-sm text-quiet">{about}</p>
            </div>
            {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
          </div>
          <div className="[&>[role=alert]]:m-0 [&>[role=status]]:px-0">{children}</div>
        </div>
      </div>
    </>
  );
}

type SectionProps = { readonly title: string; readonly about?: ReactNode; readonly children: ReactNode };

/** A titled section of a page. */
export function Section({ title, about, children }: SectionProps): ReactNode {
  return (
    <section className="mt-8 first:mt-0">
      <h2 className="text-sm font-semibold">{title}</h2>
      {about !== undefined && <p className="mt-0.5 text-sm text-quiet">{about}</p>}
      <div className="mt-3">{children}</div>
    </section>
  );
}

/** A small label. */
export function Tag({
  children,
  tone = "quiet",
}: {
  readonly children: ReactNode;
  readonly tone?: "quiet" | "warn" | "bad" | "accent";
}): ReactNode {
  return (
    <span className={`inline-flex items-center rounded px-1.5 text-xs leading-5 ${tones[tone]}`}>
      {children}
    </span>
  );
}

const tones = {
  quiet: "bg-sunken text-quiet",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  accent: "bg-accent-soft text-accent",
} as const;

import type { ReactNode } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useAbout } from "../data/about.ts";
import { introduced, newChatPath } from "../data/agents.ts";
import { steadyText } from "../markdown/visible-text.ts";

const most = 12;

/** The agents that present themselves; each begins a new chat. */
export function AppList({ onChoose }: { readonly onChoose: () => void }): ReactNode {
  const about = useAbout((state) => state.about);
  const [place] = useLocation();
  const [search] = useSearchParams();
  const apps = introduced(about?.agents ?? []).slice(0, most);
  if (apps.length === 0) return null;
  const chosen = place === "/" ? search.get("agent") : undefined;
  return (
    <nav
      aria-label="Apps"
      className="max-h-[40%] shrink-0 overflow-y-auto px-2 pt-1 pb-1 [scrollbar-gutter:stable]"
    >
      <h2 className="px-2 pb-1 font-medium text-faint text-xs">Apps</h2>
      <ul>
        {apps.map(({ name, title = name, description }) => (
          <li key={name}>
            <Link
              href={newChatPath(name)}
              onClick={onChoose}
              title={description === undefined ? undefined : steadyText(description)}
              aria-current={name === chosen ? "page" : undefined}
              className="block truncate rounded-md px-2 py-1.5 text-quiet text-sm hover:bg-line/60 hover:text-ink aria-[current=page]:bg-line aria-[current=page]:font-medium aria-[current=page]:text-ink"
            >
              {steadyText(title)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

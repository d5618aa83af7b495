import type { ReactNode } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useAbout } from "../data/about.ts";
import { filterProfiled, getNewChatPath } from "../data/agents.ts";
import { escapeBidi } from "../ui/escape-text.ts";

const maxApps = 12;

/** Agents with a profile. Each starts a new chat. */
export function AppList({ onChoose }: { readonly onChoose: () => void }): ReactNode {
  const about = useAbout((state) => state.about);
  const [path] = useLocation();
  const [search] = useSearchParams();
  const apps = filterProfiled(about?.agents ?? []).slice(0, maxApps);
  if (apps.length === 0) return null;
  const selectedName = path === "/" ? search.get("agent") : undefined;
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
              href={getNewChatPath(name)}
              onClick={onChoose}
              title={description === undefined ? undefined : escapeBidi(description)}
              aria-current={name === selectedName ? "page" : undefined}
              className="block truncate rounded-md px-2 py-1.5 text-quiet text-sm hover:bg-line/60 hover:text-ink aria-[current=page]:bg-line aria-[current=page]:font-medium aria-[current=page]:text-ink"
            >
              {escapeBidi(title)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

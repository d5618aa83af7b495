import type { FoundSession } from "capstan/client";
import { type ReactNode, useEffect, useId, useState } from "react";
import { useLocation } from "wouter";
import { client } from "../data/client.ts";
import { useNewChatPath } from "../data/current-agent.ts";
import { matchesWords, mergeByTitle } from "../data/match-words.ts";
import { useSessionList } from "../data/session-list.ts";
import { classNames } from "../ui/class-names.ts";
import { Dialog } from "../ui/dialog.tsx";
import { chooseTheme } from "../ui/theme.ts";
import { useLayout } from "./layout-state.ts";

type Choice = { readonly id: string; readonly label: string; readonly detail?: string; choose(): void };

/** Command palette: finds sessions by title and content, pages and actions. */
export function Palette(): ReactNode {
  const { dialog, set } = useLayout();
  const close = () => set({ dialog: undefined });
  return (
    <Dialog title="Find" isOpen={dialog === "palette"} onClose={close}>
      <PaletteList onDone={close} />
    </Dialog>
  );
}

function useChoices(query: string): readonly Choice[] {
  const [, navigate] = useLocation();
  const newChatPath = useNewChatPath();
  const sessions = useSessionList((list) => list.sessions) ?? [];
  const [found, setFound] = useState<readonly FoundSession[]>([]);
  useEffect(() => {
    if (query.trim().length < 2) return setFound([]);
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const hits = await client.sessions.search(query, { most: 8 }).catch(() => []);
      if (isCurrent) setFound(hits);
    }, 150);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query]);
  const actions: readonly Choice[] = [
    { id: "new", label: "New chat", choose: () => navigate(newChatPath) },
    ...(
      [
        "Sessions",
        "Runs",
        "Schedules",
        "Agents",
        "Memory",
        "Datasets",
        "Experiments",
        "MCP servers",
        "Models",
        "Settings",
      ] as const
    ).map((page) => ({
      id: page,
      label: `Go to ${page}`,
      choose: () => navigate(`/${page.toLowerCase().replace(" ", "-")}`),
    })),
    { id: "dark", label: "Dark theme", choose: () => chooseTheme("dark") },
    { id: "light", label: "Light theme", choose: () => chooseTheme("light") },
    { id: "system", label: "System theme", choose: () => chooseTheme("system") },
  ];
  const sessionChoices = mergeByTitle(sessions, found, query).map(({ id, title, places }) => ({
    id: `session ${id}`,
    label: title,
    detail: places[0]?.excerpt ?? "",
    choose: () => navigate(`/sessions/${encodeURIComponent(id)}`),
  }));
  return [
    ...actions.filter(({ label }) => matchesWords(label, query)),
    ...sessionChoices.slice(0, maxSessions),
  ];
}

const maxSessions = 16;

function PaletteList({ onDone }: { onDone(): void }): ReactNode {
  const [query, setQuery] = useState("");
  const [activeIndex, setActiveIndex] = useState(0);
  const choices = useChoices(query);
  const listId = useId();
  const current = choices[Math.min(activeIndex, choices.length - 1)];
  function choose(choice: Choice | undefined): void {
    if (!choice) return;
    onDone();
    choice.choose();
  }
  return (
    <>
      <input
        role="combobox"
        aria-label="Find"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={current && `${listId} ${current.id}`.replaceAll(" ", "-")}
        placeholder="Search sessions, messages and pages…"
        value={query}
        onChange={({ target }) => {
          setQuery(target.value);
          setActiveIndex(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step) setActiveIndex((activeIndex + step + choices.length) % Math.max(1, choices.length));
          else if (event.key === "Enter") choose(current);
          else return;
          event.preventDefault();
        }}
        className="h-10 w-full rounded-md border bg-paper px-3"
      />
      <div id={listId} role="listbox" aria-label="Results" className="mt-3 grid grid-cols-1 gap-0.5">
        {choices.map((choice) => (
          <button
            key={choice.id}
            id={`${listId} ${choice.id}`.replaceAll(" ", "-")}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={choice === current}
            onClick={() => choose(choice)}
            className={classNames(
              "rounded-md px-3 py-1.5 text-left text-sm",
              choice === current && "bg-accent-soft",
            )}
          >
            <span className="block truncate">{choice.label}</span>
            {choice.detail && <span className="block truncate text-xs text-quiet">{choice.detail}</span>}
          </button>
        ))}
        {choices.length === 0 && <p className="px-3 py-4 text-sm text-quiet">No results.</p>}
      </div>
    </>
  );
}

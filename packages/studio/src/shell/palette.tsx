import { type ReactNode, useEffect, useId, useState } from "react";
import { useLocation } from "wouter";
import { client } from "../data/client.ts";
import { useSessionList } from "../data/session-list.ts";
import { classNames } from "../ui/class-names.ts";
import { Dialog } from "../ui/dialog.tsx";
import { chooseTheme } from "../ui/theme.ts";
import { useLayout } from "./layout-state.ts";

type Choice = { readonly id: string; readonly label: string; readonly detail?: string; choose(): void };

/** Finds sessions by title and by what was said in them, pages, and what can be done. */
export function Palette(): ReactNode {
  const { dialog, set } = useLayout();
  const close = () => set({ dialog: undefined });
  return (
    <Dialog title="Find" isOpen={dialog === "palette"} onClose={close}>
      <PaletteList onDone={close} />
    </Dialog>
  );
}

function useChoices(words: string): readonly Choice[] {
  const [, go] = useLocation();
  const sessions = useSessionList((list) => list.sessions) ?? [];
  const [found, setFound] = useState<readonly Choice[]>([]);
  useEffect(() => {
    if (words.trim().length < 2) return setFound([]);
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const hits = await client.sessions.search(words, { most: 8 }).catch(() => []);
      if (!isCurrent) return;
      setFound(
        hits.map(({ id, title, places }) => ({
          id: `found ${id}`,
          label: title,
          detail: places[0]?.excerpt ?? "",
          choose: () => go(`/sessions/${encodeURIComponent(id)}`),
        })),
      );
    }, 150);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [words, go]);
  const actions: readonly Choice[] = [
    { id: "new", label: "New chat", choose: () => go("/") },
    ...(["Sessions", "Agents", "MCP servers", "Models", "Settings"] as const).map((page) => ({
      id: page,
      label: `Go to ${page}`,
      choose: () => go(`/${page.toLowerCase().replace(" ", "-")}`),
    })),
    { id: "dark", label: "Dark theme", choose: () => chooseTheme("dark") },
    { id: "light", label: "Light theme", choose: () => chooseTheme("light") },
    { id: "system", label: "Theme of the system", choose: () => chooseTheme("system") },
  ];
  const titled = sessions.map(({ id, title }) => ({
    id: `titled ${id}`,
    label: title,
    choose: () => go(`/sessions/${encodeURIComponent(id)}`),
  }));
  const isMeant = ({ label }: Choice) => label.toLowerCase().includes(words.trim().toLowerCase());
  return [...actions.filter(isMeant), ...titled.filter(isMeant).slice(0, 8), ...found];
}

function PaletteList({ onDone }: { onDone(): void }): ReactNode {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const choices = useChoices(words);
  const listId = useId();
  const current = choices[Math.min(at, choices.length - 1)];
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
        placeholder="A session, words that were said, a page…"
        value={words}
        onChange={({ target }) => {
          setWords(target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step) setAt((at + step + choices.length) % Math.max(1, choices.length));
          else if (event.key === "Enter") choose(current);
          else return;
          event.preventDefault();
        }}
        className="h-10 w-full rounded-md border bg-paper px-3"
      />
      <div id={listId} role="listbox" aria-label="Found" className="mt-3 grid grid-cols-1 gap-0.5">
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
        {choices.length === 0 && <p className="px-3 py-4 text-sm text-quiet">Nothing found.</p>}
      </div>
    </>
  );
}

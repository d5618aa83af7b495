import { Check, Columns3, Download, Star, Trash2 } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import { type FormEvent, type ReactNode, useState } from "react";
import { Button, getButtonStyle, IconButton } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { usePageSettings } from "./page-settings.ts";
import { runColumns } from "./run-columns.tsx";
import { formatView, parseView, type RunView, toQuery } from "./run-view.ts";

const itemStyle =
  "flex h-8 cursor-pointer select-none items-center gap-2 rounded-md px-2.5 outline-none data-highlighted:bg-sunken";

/** Chooses the columns of the table. */
export function ColumnMenu(): ReactNode {
  const { columns, set } = usePageSettings();
  return (
    <Radix.Root>
      <Radix.Trigger className={getButtonStyle("plain", "small")}>
        <Columns3 size={14} aria-hidden="true" />
        Columns
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="end"
          sideOffset={4}
          className="z-50 max-h-[70vh] min-w-44 overflow-y-auto rounded-lg border bg-raised p-1 text-sm shadow-lifted"
        >
          {runColumns.map(({ id, label }) => (
            <Radix.CheckboxItem
              key={id}
              checked={columns.includes(id)}
              // The menu stays open: several columns are chosen at once.
              onSelect={(event) => event.preventDefault()}
              onCheckedChange={(isOn) =>
                set({ columns: isOn ? [...columns, id] : columns.filter((column) => column !== id) })
              }
              className={itemStyle}
            >
              <span className="inline-flex size-4 items-center justify-center">
                <Radix.ItemIndicator>
                  <Check size={14} aria-hidden="true" />
                </Radix.ItemIndicator>
              </span>
              {label}
            </Radix.CheckboxItem>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

type ViewMenuProps = { readonly view: RunView; readonly onChange: (change: Partial<RunView>) => void };

/** Opens the views that were saved in this browser, and saves the current one. */
export function ViewMenu({ view, onChange }: ViewMenuProps): ReactNode {
  const { views, set } = usePageSettings();
  const [isOpen, setIsOpen] = useState(false);
  const [name, setName] = useState("");
  function save(event: FormEvent): void {
    event.preventDefault();
    const saved = { name: name.trim(), search: formatView(view) };
    if (saved.name === "") return;
    set({ views: [...views.filter((known) => known.name !== saved.name), saved] });
    setName("");
  }
  return (
    <>
      <Button size="small" onClick={() => setIsOpen(true)}>
        <Star size={14} aria-hidden="true" />
        Views{views.length > 0 && ` (${views.length})`}
      </Button>
      <Dialog
        title="Saved views"
        description="Filters, order and range of time, kept in this browser."
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
      >
        <form onSubmit={save} className="flex gap-2">
          <input
            aria-label="Name of the view"
            placeholder="Save the current view as…"
            value={name}
            maxLength={60}
            onChange={({ target }) => setName(target.value)}
            className="h-9 min-w-0 flex-1 rounded-md border bg-paper px-3 text-sm"
          />
          <Button type="submit" kind="main" disabled={name.trim() === ""}>
            Save
          </Button>
        </form>
        <ul className="mt-3 grid gap-1">
          {views.map((saved) => (
            <li key={saved.name} className="flex items-center gap-2">
              <button
                type="button"
                onClick={() => {
                  setIsOpen(false);
                  onChange(parseView(saved.search));
                }}
                className="min-w-0 flex-1 truncate rounded-md px-2 py-1.5 text-left text-sm hover:bg-sunken"
              >
                {escapeBidi(saved.name)}
              </button>
              <IconButton
                label={`Delete the view ${saved.name}`}
                onClick={() => set({ views: views.filter((other) => other !== saved) })}
              >
                <Trash2 size={15} />
              </IconButton>
            </li>
          ))}
        </ul>
        {views.length === 0 && <p className="py-4 text-sm text-quiet">No saved views yet.</p>}
      </Dialog>
    </>
  );
}

/** Downloads all runs of the view. */
export function ExportLinks({ view }: { readonly view: RunView }): ReactNode {
  return (["csv", "json"] as const).map((format) => {
    const query = Object.entries({ ...toQuery(view, Date.now()), format }).map(([name, value]) => [
      name,
      String(value),
    ]);
    return (
      <a
        key={format}
        href={`/api/runs?${new URLSearchParams(query)}`}
        download={`runs.${format}`}
        className={getButtonStyle("plain", "small")}
      >
        <Download size={14} aria-hidden="true" />
        {format.toUpperCase()}
      </a>
    );
  });
}

import { create, type StoreApi, type UseBoundStore } from "zustand";
import { usualColumns } from "./run-columns.tsx";

/** A view under a name of the user. */
export type SavedView = { readonly name: string; readonly search: string };

type PageSettings = {
  readonly columns: readonly string[];
  readonly views: readonly SavedView[];
  readonly set: (change: Partial<Pick<PageSettings, "columns" | "views">>) => void;
};

const storageKey = "capstan-runs";

function readStored(): Partial<Pick<PageSettings, "columns" | "views">> {
  try {
    const { columns, views } = JSON.parse(localStorage.getItem(storageKey) ?? "{}");
    const isText = (value: unknown) => typeof value === "string";
    const isView = (value: SavedView) => isText(value?.name) && isText(value?.search);
    return {
      ...(Array.isArray(columns) && { columns: columns.filter(isText) }),
      ...(Array.isArray(views) && { views: views.filter(isView) }),
    };
  } catch {
    return {}; // no storage, or another program's value
  }
}

/** The columns and the saved views of this browser. */
export const usePageSettings: UseBoundStore<StoreApi<PageSettings>> = create<PageSettings>()((set, get) => ({
  columns: usualColumns,
  views: [],
  ...readStored(),
  set(change) {
    set(change);
    const { columns, views } = get();
    try {
      localStorage.setItem(storageKey, JSON.stringify({ columns, views }));
    } catch {
      // Without storage, the settings last as long as the page.
    }
  },
}));

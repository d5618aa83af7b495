import type { DataInfo, DataSourceInfo, NewDataSource } from "capstan/client";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { useAbout } from "../data/about.ts";
import { client } from "../data/client.ts";
import type { PickedFile } from "./picked-files.ts";

/** What the dialog was opened for. Without an app, the user chooses one. */
export type OpenedDialog = { readonly app?: string; readonly files?: readonly PickedFile[] };

type OwnDataState = {
  /** Undefined until it is loaded. */
  readonly data: DataInfo | undefined;
  readonly dialog: OpenedDialog | undefined;
  /** Uploads of this page, by the id of their source. */
  readonly uploads: Readonly<Record<string, { readonly done: number; readonly total: number }>>;
  readonly refresh: () => Promise<void>;
  readonly open: (dialog: OpenedDialog) => void;
  readonly close: () => void;
};

/** The own data of the server. Polled while something is loading. */
export const useOwnData: UseBoundStore<StoreApi<OwnDataState>> = create<OwnDataState>()((set, get) => ({
  data: undefined,
  dialog: undefined,
  uploads: {},
  async refresh() {
    const before = get().data;
    // The dialog and the list work without it: an older server has no own data.
    const data = await client.data.list().catch(() => undefined);
    if (!data) return;
    set({ data });
    if (before && listReady(before) !== listReady(data)) void useAbout.getState().refresh();
    pollWhileBusy(data.sources);
  },
  open(dialog) {
    set({ dialog });
    void get().refresh();
  },
  close: () => set({ dialog: undefined }),
}));

const pollMs = 500;
let timer: ReturnType<typeof setTimeout> | undefined;

function pollWhileBusy(sources: readonly DataSourceInfo[]): void {
  clearTimeout(timer);
  const isBusy = sources.some(({ state }) => state === "loading");
  if (isBusy) timer = setTimeout(() => void useOwnData.getState().refresh(), pollMs);
}

const listReady = ({ sources }: DataInfo): string =>
  sources.flatMap(({ id, state }) => (state === "ready" ? [id] : [])).join(" ");

const concurrentUploads = 4;

export type NewUpload = {
  readonly app: string;
  readonly title: string;
  readonly files: readonly PickedFile[];
  readonly settings: Settings;
};

type Settings = NonNullable<NewDataSource["settings"]>;

/** Uploads files and starts to load them. Removes the source again if that fails. */
export async function uploadData({ files, ...data }: NewUpload): Promise<void> {
  const { refresh } = useOwnData.getState();
  const { id } = await client.data.add(data);
  const report = (done: number) =>
    useOwnData.setState(({ uploads }) => ({ uploads: { ...uploads, [id]: { done, total: files.length } } }));
  report(0);
  await refresh();
  try {
    const waiting = [...files];
    let done = 0;
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        await client.data.upload(id, { path: next.path, bytes: next.file });
        report(++done);
      }
    };
    await Promise.all(Array.from({ length: concurrentUploads }, work));
    await client.data.load(id);
  } catch (error) {
    await client.data.remove(id).catch(() => undefined);
    throw error;
  } finally {
    useOwnData.setState(({ uploads: { [id]: _, ...uploads } }) => ({ uploads }));
    await refresh();
  }
}

/** Opens an app on a path or an address. */
export async function addLocation(app: string, location: string, settings: Settings): Promise<void> {
  await client.data.add({ app, locations: [location], settings });
  await useOwnData.getState().refresh();
}

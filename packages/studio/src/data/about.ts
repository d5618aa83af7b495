import type { About, ModelInfo } from "capstan/client";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { client } from "./client.ts";

type AboutState = {
  readonly about: About | undefined;
  /** Models that a request may choose. */
  readonly models: readonly string[];
  /** The models on the server's machine; models of running servers are first. */
  readonly localModels: readonly string[];
  readonly error: string | undefined;
  readonly refresh: () => Promise<void>;
};

/** Server information, loaded on demand. */
export const useAbout: UseBoundStore<StoreApi<AboutState>> = create<AboutState>()((set) => ({
  about: undefined,
  models: [],
  localModels: [],
  error: undefined,
  async refresh() {
    // A model server on the machine may take its time to answer; the page does not wait for it.
    const listing = client.models.list();
    listing.catch(() => undefined); // awaited below
    try {
      set({ about: await client.about(), error: undefined });
      const models = await listing;
      const localModels = getSelectableModels(models.filter(({ isLocal }) => isLocal));
      const isFile = (name: string) => Number(name.startsWith("local/"));
      set({
        models: getSelectableModels(models),
        localModels: localModels.toSorted((left, right) => isFile(left) - isFile(right)),
      });
    } catch (error) {
      set({ error: error instanceof Error ? error.message : String(error) });
    }
  },
}));

function getSelectableModels(models: readonly ModelInfo[]): readonly string[] {
  return models.flatMap(({ model, isOffered }) => (isOffered && model !== undefined ? [model] : []));
}

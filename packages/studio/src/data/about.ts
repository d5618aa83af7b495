import type { About, ModelInfo } from "capstan/client";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { client } from "./client.ts";

type AboutState = {
  readonly about: About | undefined;
  readonly models: readonly string[];
  readonly error: string | undefined;
  readonly refresh: () => Promise<void>;
};

/** Server information, loaded on demand. */
export const useAbout: UseBoundStore<StoreApi<AboutState>> = create<AboutState>()((set) => ({
  about: undefined,
  models: [],
  error: undefined,
  async refresh() {
    try {
      const [about, models] = await Promise.all([client.about(), client.models.list()]);
      set({ about, models: getSelectableModels(models), error: undefined });
    } catch (error) {
      set({ error: error instanceof Error ? error.message : String(error) });
    }
  },
}));

function getSelectableModels(models: readonly ModelInfo[]): readonly string[] {
  return models.flatMap(({ model, isOffered }) => (isOffered && model !== undefined ? [model] : []));
}

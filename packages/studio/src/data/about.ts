import type { About, ModelInfo } from "capstan/client";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { client } from "./client.ts";

type AboutState = {
  readonly about: About | undefined;
  readonly models: readonly string[];
  readonly error: string | undefined;
  readonly refresh: () => Promise<void>;
};

/** The server, as far as it is known. */
export const useAbout: UseBoundStore<StoreApi<AboutState>> = create<AboutState>()((set) => ({
  about: undefined,
  models: [],
  error: undefined,
  async refresh() {
    try {
      const [about, models] = await Promise.all([client.about(), client.models.list()]);
      set({ about, models: offered(models), error: undefined });
    } catch (thrown) {
      set({ error: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  },
}));

/** The names of those that a request may choose. */
function offered(models: readonly ModelInfo[]): readonly string[] {
  return models.flatMap(({ model, isOffered }) => (isOffered && model !== undefined ? [model] : []));
}

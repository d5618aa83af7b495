import { create, type StoreApi, type UseBoundStore } from "zustand";
import { useAbout } from "./about.ts";

const storageKey = "capstan-model";

type PreferredModel = {
  readonly model: string | undefined;
  /** Undefined: the agent's own model. */
  readonly prefer: (model: string | undefined) => void;
};

const usePreference: UseBoundStore<StoreApi<PreferredModel>> = create<PreferredModel>()((set) => ({
  model: globalThis.localStorage?.getItem(storageKey) ?? undefined,
  prefer(model) {
    if (model === undefined) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, model);
    set({ model });
  },
}));

/** The model of new chats, remembered in this browser. Undefined while the server does not offer it. */
export function usePreferredModel(): PreferredModel {
  const { model, prefer } = usePreference();
  const isOffered = useAbout(({ models }) => model !== undefined && models.includes(model));
  return { model: isOffered ? model : undefined, prefer };
}

import { create, type StoreApi, type UseBoundStore } from "zustand";
import { noticingFetch } from "./sign-in.ts";

/** An agent as people choose it. */
export type AboutAgent = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly suggestions?: readonly string[];
};

/** What the server says of itself and of who is there. */
export type About = {
  /** The name of the model that answers when nothing else is chosen. */
  readonly model: string;
  /** Rules answer, and no model. */
  readonly isOffline: boolean;
  /** Empty for the one local user. */
  readonly user: string;
  readonly isAdmin: boolean;
  readonly agents: readonly AboutAgent[];
};

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
      const [about, models] = await Promise.all([readAbout(), readModels()]);
      set({ about, models, error: undefined });
    } catch (thrown) {
      set({ error: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  },
}));

async function readJson(path: string): Promise<unknown> {
  const response = await noticingFetch(path, { headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(`The server answered ${response.status} when it was asked about itself.`);
  return response.json();
}

const readAbout = async (): Promise<About> => (await readJson("/api/about")) as About;

/** The names of those that a request may choose. */
async function readModels(): Promise<readonly string[]> {
  const { models } = (await readJson("/api/models")) as {
    readonly models: readonly { readonly model?: string; readonly isOffered: boolean }[];
  };
  return models.flatMap(({ model, isOffered }) => (isOffered && model !== undefined ? [model] : []));
}

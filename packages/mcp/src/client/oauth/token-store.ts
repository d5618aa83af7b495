import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";

/** What is kept for one server. All of it is secret. */
export type Credentials = {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
};

/** Where tokens are kept, outside of the session store. Keys come from `serverKey`. */
export type TokenStore = {
  read(key: string): Promise<Credentials>;
  /** Replaces what is kept by what `change` makes of it. Updates of one store are made one after the other. */
  update(key: string, change: (current: Credentials) => Credentials): Promise<void>;
};

/** Under what a server's tokens are kept: another URL never gets them, under whatever name it is configured. */
export function serverKey(serverUrl: string | URL): string {
  const { origin, pathname } = new URL(serverUrl);
  return `${origin}${pathname}`;
}

/** Tokens that end with the process. */
export function memoryTokens(): TokenStore {
  const kept = new Map<string, Credentials>();
  return {
    read: async (key) => kept.get(key) ?? {},
    update: async (key, change) => {
      kept.set(key, change(kept.get(key) ?? {}));
    },
  };
}

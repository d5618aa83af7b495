import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";

/** The secrets stored for one server. */
export type Credentials = {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
};

/** Stores tokens, outside the session store. Keys come from `getServerKey`. */
export type TokenStore = {
  read(key: string): Promise<Credentials>;
  /** Replaces the credentials with the result of `change`. Updates run one after the other. */
  update(key: string, change: (current: Credentials) => Credentials): Promise<void>;
};

/** Tokens are stored by URL: another URL never gets them, even under the same name. */
export function getServerKey(serverUrl: string | URL): string {
  const { origin, pathname } = new URL(serverUrl);
  return `${origin}${pathname}`;
}

/** Stores tokens until the process ends. */
export function memoryTokens(): TokenStore {
  const credentials = new Map<string, Credentials>();
  return {
    read: async (key) => credentials.get(key) ?? {},
    update: async (key, change) => {
      credentials.set(key, change(credentials.get(key) ?? {}));
    },
  };
}

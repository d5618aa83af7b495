import type { Clock } from "../base/clock.ts";
import {
  createHeaderAuth,
  createTokenAuth,
  type HeaderAuth,
  importPeer,
  type TokenProvider,
} from "./credentials.ts";
import { readEnv } from "./environment.ts";

/** A client of `google-auth-library`, such as `JWT` or `Impersonated`. It renews its own tokens. */
export type GoogleClient = { getRequestHeaders(): Promise<Iterable<readonly [string, string]>> };

export type GoogleAuthOptions = {
  /** Returns an access token of Google Cloud. Called for every request, so it may renew the token. */
  readonly token?: TokenProvider;
  readonly credentials?: GoogleClient;
  /** Replaces real time, in tests. */
  readonly clock?: Clock | undefined;
};

/**
 * Uses the first of `token`, `credentials`, `GOOGLE_ACCESS_TOKEN` and the application-default credentials. The variable is
 * read for every request, because such tokens are short-lived.
 */
export function getGoogleAuth({ token, credentials, clock }: GoogleAuthOptions): HeaderAuth {
  if (token) return createTokenAuth(token, clock);
  if (credentials)
    return createHeaderAuth({
      source: "`credentials`",
      clock,
      load: async () => ({ value: Object.fromEntries(await credentials.getRequestHeaders()) }),
    });
  const ownAuth = clock && createDefaultAuth(clock);
  const getAuth = () => (readEnv("GOOGLE_ACCESS_TOKEN") ? environmentAuth : (ownAuth ?? getSharedAuth()));
  return { headers: () => getAuth().headers(), renew: (sent) => getAuth().renew(sent) };
}

const environmentAuth: HeaderAuth = {
  headers: async () => ({ authorization: `Bearer ${readEnv("GOOGLE_ACCESS_TOKEN")}` }),
  renew: async () => false,
};

let sharedAuth: HeaderAuth | undefined;

/** Shared by all clients, so that they load one token. */
function getSharedAuth(): HeaderAuth {
  sharedAuth ??= createDefaultAuth();
  return sharedAuth;
}

/** A key file, a workload identity, the login of `gcloud`, or the service account of the machine. */
function createDefaultAuth(clock?: Clock): HeaderAuth {
  return createHeaderAuth({
    source: "Google's application-default credentials",
    advice:
      "Run `gcloud auth application-default login`, set GOOGLE_APPLICATION_CREDENTIALS, or pass `token`.",
    clock,
    async load() {
      const { GoogleAuth } = await importPeer<typeof import("google-auth-library")>({
        name: "google-auth-library",
        user: "Google's application-default credentials",
        advice: "set GOOGLE_ACCESS_TOKEN, or pass `token`",
      });
      // A new one each time: the library would return the token that it already has, also after it was refused. The
      // project is in the URL; without one here, the library would ask several services for it.
      const auth = new GoogleAuth({
        scopes: ["https://www.googleapis.com/auth/cloud-platform"],
        projectId: "-",
      });
      const client = await auth.getClient();
      const headers = Object.fromEntries(await client.getRequestHeaders());
      return { value: headers, expiresAt: client.credentials.expiry_date ?? undefined };
    },
  });
}

type GetBuiltin = typeof process.getBuiltinModule;

// Looked up at run time instead of imported, so that browser bundles do not contain Node's modules.
const findBuiltin = (): GetBuiltin | undefined =>
  (globalThis as { process?: { getBuiltinModule?: GetBuiltin } }).process?.getBuiltinModule;

/**
 * Whether there is a token, or a file with the application-default credentials and the library that reads it. Sends no
 * request, so the service account of a machine in Google Cloud is not found.
 */
export function hasGoogleCredentials(): boolean {
  if (readEnv("GOOGLE_ACCESS_TOKEN")) return true;
  const getBuiltin = findBuiltin();
  if (!getBuiltin) return false;
  return getBuiltin("fs").existsSync(getCredentialFile()) && canResolve(getBuiltin, "google-auth-library");
}

/** Returns the project from the environment, else the one that the application-default credentials name. */
export function findGoogleProject(): string | undefined {
  const named = readEnv("GOOGLE_CLOUD_PROJECT");
  if (named) return named;
  try {
    const text = findBuiltin()?.("fs").readFileSync(getCredentialFile(), "utf8") ?? "{}";
    // A key file has the project of its service account; the login of `gcloud` has the one that pays.
    const { project_id: own, quota_project_id: paying } = JSON.parse(text);
    return [own, paying].find((project) => typeof project === "string" && project !== "");
  } catch {
    return undefined; // no such file, or not JSON
  }
}

function getCredentialFile(): string {
  const folder = readEnv("CLOUDSDK_CONFIG") ?? getGcloudFolder();
  return readEnv("GOOGLE_APPLICATION_CREDENTIALS") ?? `${folder}/application_default_credentials.json`;
}

function getGcloudFolder(): string {
  const windowsFolder = readEnv("APPDATA");
  return windowsFolder ? `${windowsFolder}/gcloud` : `${readEnv("HOME") ?? ""}/.config/gcloud`;
}

function canResolve(getBuiltin: GetBuiltin, name: string): boolean {
  try {
    getBuiltin("module")
      .createRequire(import.meta.url)
      .resolve(name);
    return true;
  } catch {
    return false; // not installed
  }
}

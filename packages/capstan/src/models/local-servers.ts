// Model servers on this machine. Each has an OpenAI-compatible API below `/v1`, and a list of its models that shows
// which program answers: the ports are common, so a port that answers proves nothing.
import { isRecord } from "../base/json.ts";
import { readEnv } from "./environment.ts";
import { type Environment, getProvider } from "./providers.ts";

/** A server for models on this machine; also the prefix of their names, as in `ollama/llama3.2`. */
export type LocalServerName = "ollama" | "lmstudio" | "llamacpp" | "vllm";

/** A server that answered, with its installed models. */
export type LocalServer = {
  readonly name: LocalServerName;
  /** Without `/v1`. */
  readonly url: string;
  /** Names without the prefix, in the server's order. Models that only embed or rerank are omitted. */
  readonly models: readonly string[];
};

export type FindLocalServersOptions = {
  readonly fetch?: typeof fetch;
  /** Default: the variables of this process. */
  readonly env?: Environment;
  /** How long a server may take to answer. Default: 300. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

type LocalServerKind = {
  readonly variable: string;
  readonly port: number;
  /** Path of the list of models, and the field that holds it. */
  readonly path: string;
  readonly list: "models" | "data";
  /** Returns the name of a listed model; undefined if another program wrote the item, or the model cannot chat. */
  findName(item: Record<string, unknown>): unknown;
};

const kinds: { readonly [Name in LocalServerName]: LocalServerKind } = {
  ollama: {
    variable: "OLLAMA_HOST",
    port: 11434,
    path: "/api/tags",
    list: "models",
    findName: ({ name, details }) =>
      isRecord(details) && /bert/.test(String(details.family)) ? undefined : name,
  },
  lmstudio: {
    variable: "LMSTUDIO_HOST",
    port: 1234,
    path: "/api/v0/models",
    list: "data",
    findName: ({ id, type }) => (type === "llm" || type === "vlm" ? id : undefined),
  },
  llamacpp: {
    variable: "LLAMACPP_HOST",
    port: 8080,
    path: "/v1/models",
    list: "data",
    findName: ({ id, owned_by: owner }) => (owner === "llamacpp" ? id : undefined),
  },
  vllm: {
    variable: "VLLM_HOST",
    port: 8000,
    path: "/v1/models",
    list: "data",
    findName: ({ id, owned_by: owner }) => (owner === "vllm" ? id : undefined),
  },
};

/** In the order in which `defaultModel` tries them. */
export const localServerNames: readonly LocalServerName[] = Object.keys(kinds) as LocalServerName[];

export function isLocalServerName(name: string): name is LocalServerName {
  return Object.hasOwn(kinds, name);
}

/** Whether a model runs on this machine: on a model server, or from a file. */
export function isLocalModel(name: string): boolean {
  const provider = getProvider(name);
  return provider === "local" || isLocalServerName(provider);
}

/** Returns the address of a server, without `/v1`: its variable (`host:port` or a URL), else its port on this machine. */
export function getLocalServerUrl(name: LocalServerName, env?: Environment): string {
  const { variable, port } = kinds[name];
  const host = (env ? env[variable] : readEnv(variable))?.trim() || "127.0.0.1";
  const text = /^https?:\/\//i.test(host) ? host : `http://${host}`;
  if (!URL.canParse(text)) return `http://127.0.0.1:${port}`;
  const url = new URL(text);
  if (!/:\d+\/?$/.test(text) && url.protocol === "http:" && url.pathname === "/") url.port = String(port);
  // An address to listen on, as Ollama's own variable may be, is not one to connect to.
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return url.href.replace(/\/+$/, "");
}

/**
 * Returns the model servers that answer, with their models, in a fixed order. Asks this machine only, unless a variable
 * such as `OLLAMA_HOST` names another. A server without models, or that is too slow, is left out,
 * and so is another program on the same port.
 */
export async function findLocalServers(
  options: FindLocalServersOptions = {},
): Promise<readonly LocalServer[]> {
  const found = await Promise.all(localServerNames.map((name) => findServer(name, options)));
  return found.filter((server) => server !== undefined);
}

async function findServer(
  name: LocalServerName,
  { fetch: send = fetch, env, timeoutMs = 300, signal }: FindLocalServersOptions,
): Promise<LocalServer | undefined> {
  const url = getLocalServerUrl(name, env);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(`${url}${kinds[name].path}`, {
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const models = response.ok ? readModels(await response.json(), kinds[name]) : [];
    return models.length > 0 ? { name, url, models } : undefined;
  } catch {
    return undefined; // not running
  }
}

function readModels(body: unknown, { list: field, findName }: LocalServerKind): readonly string[] {
  const list = isRecord(body) ? body[field] : undefined;
  const names = (Array.isArray(list) ? list : []).map((item) =>
    isRecord(item) ? findName(item) : undefined,
  );
  return names.filter((name) => typeof name === "string" && name !== "") as string[];
}

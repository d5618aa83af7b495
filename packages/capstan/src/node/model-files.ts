import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { findLocalServers } from "../models/local-servers.ts";
import { dataFolder } from "./data-folder.ts";

type Environment = { readonly [name: string]: string | undefined };

/** Returns the folder of downloaded models. */
export function modelFolder(env: Environment = process.env): string {
  return join(dataFolder(env), "models");
}

/** Lists the names of downloaded models: the GGUF files in the folder, without their extension. */
export async function listModelFiles(env: Environment = process.env): Promise<readonly string[]> {
  const files = await readdir(modelFolder(env)).catch(() => []); // there may be no folder yet
  return files.flatMap((file) => /^(.+)\.gguf$/.exec(file)?.[1] ?? []).toSorted();
}

/** A server that loads a model, or a busy machine, answers late; where no server runs, the connection is refused at once. */
const serverTimeoutMs = 10_000;

/** Returns the names of downloaded models, and of the models of running model servers. Asks this machine only. */
export async function findModelsOnMachine(env: Environment = process.env): Promise<readonly string[]> {
  const [files, servers] = await Promise.all([
    listModelFiles(env),
    findLocalServers({ env, timeoutMs: serverTimeoutMs }),
  ]);
  const served = servers.flatMap(({ name, models }) => models.map((model) => `${name}/${model}`));
  return [...files.map((file) => `local/${file}`), ...served];
}

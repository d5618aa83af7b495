import { join } from "node:path";
import type { RestateEngine } from "@capstan/restate";
import { AgentError } from "capstan";
import { type EngineContext, importEngine, type LoadedEngine } from "./loaded-engine.ts";
import { findTrialServer, type TrialServer } from "./trial-server.ts";

const defaultIngressUrl = "http://127.0.0.1:8080";
const defaultAdminUrl = "http://127.0.0.1:9070";
/** The port that the documentation of Restate uses for services. */
const defaultWorkerPort = 9080;

/** Loads the engine on Restate. Its addresses come from the environment; a trial starts its own server. */
export async function loadRestate(context: EngineContext, work: boolean): Promise<LoadedEngine> {
  const { io, workspace, isTrial } = context;
  const { env } = io;
  const { restate } = await importEngine(() => import("@capstan/restate"), "@capstan/restate");
  const trial: TrialServer | undefined =
    isTrial && !env.RESTATE_INGRESS_URL
      ? await findTrialServer({ folder: join(workspace.home, "restate"), from: io.cwd })
      : undefined;
  const token = env.RESTATE_AUTH_TOKEN;
  const headers = token ? { headers: { authorization: `Bearer ${token}` } } : {};
  const url = trial?.ingressUrl ?? env.RESTATE_INGRESS_URL ?? defaultIngressUrl;
  let engine: RestateEngine | undefined;
  return {
    create(parts) {
      engine = restate({ ...parts, ingress: { url, ...headers } });
      return engine;
    },
    async startWork() {
      if (!engine || !work) return [];
      const identityKeys = (env.RESTATE_IDENTITY_KEYS ?? "").split(/[\s,]+/).filter(Boolean);
      const port = trial ? 0 : parseWorkerPort(env.CAPSTAN_WORKER_PORT);
      const endpoint = await engine.listen({
        port,
        ...(env.CAPSTAN_WORKER_HOST && { host: env.CAPSTAN_WORKER_HOST }),
        ...(identityKeys.length > 0 && { identityKeys }),
      });
      const workerUrl = env.CAPSTAN_WORKER_URL ?? endpoint.url;
      const adminUrl = trial?.adminUrl ?? env.RESTATE_ADMIN_URL ?? defaultAdminUrl;
      await engine.register({ adminUrl, url: workerUrl, ...headers });
      const about = trial ? [`trial server, Business Source License 1.1, data in ${trial.folder}`] : [];
      return [`Restate calls ${workerUrl}`, ...about];
    },
  };
}

function parseWorkerPort(value: string | undefined): number {
  if (value === undefined || value === "") return defaultWorkerPort;
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  const message = `CAPSTAN_WORKER_PORT is not a valid port: ${JSON.stringify(value)}. Use a number from 1 to 65535, or 0 for any free port.`;
  throw new AgentError("invalid_input", message);
}

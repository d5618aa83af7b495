import { checkWebhooks as checkDefinitions, countPendingDeliveries } from "@capstan/server";
import { formatCount } from "capstan/sessions";
import type { Project } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import { hasStore, openStore, resolveDatabase } from "../../workspace/open-store.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import { type Finding, getErrorMessage } from "./findings.ts";

/** Checks the webhooks of the config, and counts the results that are still to be delivered. Sends nothing. */
export async function checkWebhooks(
  flags: WorkspaceFlags,
  project: Project,
  io: Io,
): Promise<readonly Finding[]> {
  const { webhooks = {} } = project.config;
  if (Object.keys(webhooks).length === 0) return [];
  const pending = await countPending(flags, project, io).catch(() => new Map<string, number>());
  return Object.entries(webhooks).map(([name, webhook]) => {
    const what = `Webhook ${name}`;
    try {
      checkDefinitions({ [name]: webhook });
    } catch (error) {
      const advice = "Set the variable that it comes from, or correct `webhooks` in the config.";
      return { what, state: "broken", says: getErrorMessage(error), advice };
    }
    const count = pending.get(name) ?? 0;
    const replies = webhook.reply
      ? `, ${count === 0 ? "no results" : formatCount(count, "result")} to deliver`
      : "";
    return { what, state: "ok", says: `POST /webhooks/${name}, signed as ${webhook.provider}${replies}` };
  });
}

async function countPending(
  flags: WorkspaceFlags,
  project: Project,
  io: Io,
): Promise<ReadonlyMap<string, number>> {
  const database = resolveDatabase(flags, project, io);
  if (!hasStore(database)) return new Map();
  const { store } = await openStore(database);
  try {
    return await countPendingDeliveries(store);
  } finally {
    await store.close();
  }
}

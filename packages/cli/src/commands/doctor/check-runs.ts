import { createAgentFinder } from "@capstan/server";
import { listStuck } from "capstan/engines/local";
import type { Project } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import { getAgentParts } from "../../serve/server-instance.ts";
import { getProjectFolder, withOwnOrphans } from "../../sessions/session-projects.ts";
import { collectMcpServers } from "../../workspace/mcp-servers.ts";
import { hasStore, openStore, resolveDatabase } from "../../workspace/open-store.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import { createAgentsWithoutMcp } from "../models/list-models.ts";
import type { Finding } from "./findings.ts";

const maxListed = 20;
/** Reasons that do not depend on the tools of MCP servers, which are not started for this check. */
const certainCodes: readonly string[] = ["unknown_agent", "newer_version"];

/** Lists the unfinished runs of this project that cannot continue. */
export async function checkRuns(
  flags: WorkspaceFlags,
  project: Project,
  io: Io,
): Promise<readonly Finding[]> {
  const database = resolveDatabase(flags, project, io);
  if (!hasStore(database)) return [];
  const { store: shared } = await openStore(database);
  try {
    const { config, configFile } = project;
    const store = withOwnOrphans(shared, { folder: getProjectFolder(configFile, io.cwd) });
    const team = await createAgentsWithoutMcp(flags, config, io);
    const storedAgents = { ...getAgentParts({ ...team, config, mcp: undefined }), ...config.storedAgents };
    const models = config.models ?? [];
    const agents = createAgentFinder({ agents: team.agents, store, storedAgents, models });
    const hasMcp = Object.keys(collectMcpServers(flags, project, io)).length > 0;
    const stuckRuns = (await listStuck({ store, agents })).filter(
      ({ reason }) => !hasMcp || certainCodes.includes(reason.code),
    );
    if (stuckRuns.length === 0) return [{ what: "Runs", state: "ok", says: "none is stuck" }];
    return stuckRuns.slice(0, maxListed).map(({ runId, sessionId, reason }) => ({
      what: `Run ${runId}`,
      state: "limited",
      says: `cannot continue. ${reason.message}`,
      advice: `\`capstan sessions show ${sessionId}\` shows its session.`,
    }));
  } finally {
    await shared.close();
  }
}

import { type ExitCode, exitCodes } from "../../exit-code.ts";
import type { Io } from "../../io.ts";
import { formatJson } from "../../output/format-json.ts";
import { escapeTerminal } from "../../terminal/escape-terminal.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import { checkClients } from "./check-clients.ts";
import { checkPort } from "./check-port.ts";
import { checkRuns } from "./check-runs.ts";
import { checkDatabase, checkDataFolder, checkLogs } from "./check-storage.ts";
import { checkWebhooks } from "./check-webhooks.ts";
import { checkMcpServers, checkModel, checkNode, checkProject, type Finding } from "./findings.ts";

/** Flags of `capstan doctor`. */
export type DoctorFlags = WorkspaceFlags & { readonly json?: boolean; readonly online?: boolean };

/** Runs all checks and prints the findings. Fails when something is broken. */
export async function runDoctor(flags: DoctorFlags, io: Io): Promise<ExitCode> {
  const { project, finding } = await checkProject(flags, io);
  const findings: Finding[] = [
    checkNode(),
    checkDataFolder(io),
    await checkDatabase(flags, project, io),
    finding,
    ...(await checkModel(flags, project, io)),
    ...(await checkMcpServers(flags, project, io)),
    ...(await checkClients(io)),
    // Other checks report a database or an agent that cannot be opened.
    ...(await checkRuns(flags, project, io).catch(() => [])),
    ...(await checkWebhooks(flags, project, io)),
    await checkLogs(project, io),
    await checkPort(project, io),
  ];
  if (flags.json) io.stdout.write(formatJson(findings));
  else io.stdout.write(findings.map(formatFinding).join(""));
  const isBroken = findings.some(({ state }) => state === "broken");
  return isBroken ? exitCodes.failure : exitCodes.ok;
}

const marks = { ok: "✓", limited: "!", broken: "✗" } as const;

function formatFinding({ state, what, says, advice }: Finding): string {
  const next = advice === undefined ? "" : `\n    → ${escapeTerminal(advice)}`;
  return `${marks[state]} ${what}: ${escapeTerminal(says)}${next}\n`;
}

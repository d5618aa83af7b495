import { type ExitCode, exitCodes } from "../../exit-code.ts";
import type { Io } from "../../io.ts";
import { jsonText } from "../../output/format-json.ts";
import { harmless } from "../../terminal/escape-terminal.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import { portFinding } from "./check-port.ts";
import { databaseFinding, dataFinding, logFinding } from "./check-storage.ts";
import { type Finding, modelFindings, nodeFinding, projectOf, serverFindings } from "./findings.ts";

/** Flags of `capstan doctor`. */
export type DoctorFlags = WorkspaceFlags & { readonly json?: boolean; readonly online?: boolean };

/** Looks at everything, says what it found, and fails when something is broken. */
export async function doctor(flags: DoctorFlags, io: Io): Promise<ExitCode> {
  const { project, finding } = await projectOf(flags, io);
  const findings: Finding[] = [
    nodeFinding(),
    dataFinding(io),
    await databaseFinding(flags, project, io),
    finding,
    ...(await modelFindings(flags, project, io)),
    ...(await serverFindings(flags, project, io)),
    await logFinding(project, io),
    await portFinding(project, io),
  ];
  if (flags.json) io.stdout.write(jsonText(findings));
  else io.stdout.write(findings.map(lineOf).join(""));
  const isBroken = findings.some(({ state }) => state === "broken");
  return isBroken ? exitCodes.failure : exitCodes.ok;
}

const marks = { ok: "✓", limited: "!", broken: "✗" } as const;

function lineOf({ state, what, says, advice }: Finding): string {
  const next = advice === undefined ? "" : `\n    → ${harmless(advice)}`;
  return `${marks[state]} ${what}: ${harmless(says)}${next}\n`;
}

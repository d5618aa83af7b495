import { existsSync, realpathSync, statSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import {
  AgentError,
  defineTool,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolReturn,
  type UiHint,
} from "capstan";
import { createArgumentError, createSecurityError, quotePath } from "./files/file-errors.ts";
import { isWithin, parsePath } from "./files/parse-path.ts";
import { assertNumbers } from "./files/workspace.ts";
import type { SandboxOptions } from "./shell/bubblewrap.ts";
import { type Command, findPattern, formatCommand } from "./shell/command-line.ts";
import type { EnvironmentOptions } from "./shell/environment.ts";
import { createProgress } from "./shell/progress.ts";
import { type CommandResult, defaultShellLimits, runCommand, type ShellLimits } from "./shell/run-command.ts";
import { openSandbox, type Sandbox, type SandboxReport } from "./shell/sandbox.ts";

export type ShellToolOptions = EnvironmentOptions & {
  /** The working folder. Must exist. */
  readonly cwd: string;
  /**
   * `auto` (default): a sandbox if the machine has one. `required`: throws `sandbox_unavailable` if there is none.
   * An object sets what commands can reach, and requires the sandbox.
   */
  readonly sandbox?: "auto" | "required" | "off" | SandboxOptions;
  readonly limits?: Partial<ShellLimits>;
  /** Default: true. With `false`, only commands without a sandbox need approval, unless `sandbox` is `"off"`. */
  readonly needsApproval?: boolean;
};

/** The tool `shell`, and how its commands are confined. */
export type ShellTool = Tool<ToolCall<"shell", ShellInput>, unknown> & { readonly sandbox: SandboxReport };

type ShellInput = {
  readonly command?: readonly string[];
  readonly script?: string;
  readonly folder?: string;
};

const maxWaiting = 10;
const optionNames = ["cwd", "sandbox", "limits", "needsApproval", "inherit", "env"];

/**
 * The tool `shell {command | script, folder}`: runs programs in one folder, in a sandbox where the machine has one. The
 * result is private and untrusted. Without a sandbox, or with its network, a command can send data anywhere.
 */
export function shellTool(options: ShellToolOptions): ShellTool {
  const limits = checkOptions(options);
  const cwd = resolveFolder(options.cwd);
  const sandbox = openSandbox(cwd, options.sandbox ?? "auto");
  const { report } = sandbox;
  const isConfined = report.type !== "none" && !report.network;
  const needsApproval =
    (options.needsApproval ?? true) || (report.type === "none" && options.sandbox !== "off");
  const tool = defineTool({
    name: "shell",
    description: describe(report, limits),
    input: {
      type: "object",
      properties: {
        command: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          maxItems: 1000,
          description: "The program and its arguments. No shell interprets them.",
        },
        script: { type: "string", minLength: 1, description: "A shell script, instead of `command`." },
        folder: { type: "string", description: "The folder to run in, relative to the working folder." },
      },
      additionalProperties: false,
    },
    effects: isConfined ? "state" : "send",
    reads: ["private", "untrusted"],
    // A command ends at its own limit. Before, it waits for the other commands in its folder.
    timeoutMs: maxWaiting * (limits.timeMs + 30_000),
    maxResultSize: limits.shownBytes + 2_000,
    target: (input) => formatTarget(input),
    pattern: (input) => (input.folder === undefined ? findPattern(toCommand(input)) : undefined),
    needsApproval: (input) => {
      // Errors of the model are its own: the user is not asked about them.
      toCommand(input);
      const folder = findFolder(cwd, input.folder);
      if (!needsApproval) return false;
      return {
        reason: describeCall(report, input),
        ui: describeCommand(input, { ...options, report, folder }),
      };
    },
    execute: (input, context) => execute(input, context, { cwd, sandbox, limits, options }),
  });
  return { ...tool, sandbox: report };
}

function checkOptions(options: ShellToolOptions): ShellLimits {
  for (const field of Object.keys(options)) {
    if (optionNames.includes(field)) continue;
    const message = `Unknown option "${field}" for shellTool. Options: ${optionNames.join(", ")}.`;
    throw new AgentError("invalid_definition", message);
  }
  if (process.platform === "win32")
    throw new AgentError("invalid_definition", "shellTool needs a POSIX system. On Windows, run it in WSL.");
  assertNumbers("limits of shellTool", options.limits ?? {}, defaultShellLimits);
  return { ...defaultShellLimits, ...options.limits };
}

function resolveFolder(cwd: string): string {
  const path = resolve(cwd);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return realpathSync.native(path);
  const message = `The folder ${JSON.stringify(cwd)} of shellTool does not exist: create it first.`;
  throw new AgentError("invalid_definition", message);
}

/** Returns the real path of a folder below `cwd`; links that lead out of it are refused. */
function findFolder(cwd: string, folder: string | undefined): string {
  if (folder === undefined) return cwd;
  const path = join(cwd, ...parsePath(folder, [cwd]));
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw createArgumentError(`${quotePath(folder)} is not a folder in the working folder.`);
  const realPath = realpathSync.native(path);
  if (isWithin(realPath, cwd, sep)) return realPath;
  throw createSecurityError(`${quotePath(folder)} is a link out of the working folder.`);
}

function toCommand({ command, script }: ShellInput): Command {
  if (command && script === undefined) return { command };
  if (script !== undefined && !command) return { script };
  throw createArgumentError("Give either `command` or `script`.");
}

/** The exact command and its folder: two commands are the same only if both are. */
function formatTarget(input: ShellInput): string {
  const command = toCommand(input);
  const kind = command.script === undefined ? "" : "script: ";
  const place = input.folder === undefined ? "" : `in ${quotePath(input.folder)}: `;
  return `${place}${kind}${formatCommand(command)}`;
}

function describe(report: SandboxReport, { timeMs }: ShellLimits): string {
  const place =
    report.type === "none"
      ? "Commands run without a sandbox, with the rights of the user."
      : `Commands run in a sandbox: they can change files in the working folder and in /tmp, which is new for each command, but no repository (.git), so that they cannot commit; they see system programs and no other files, and have ${report.network ? "network access" : "no network"}.`;
  return `Runs a program in the working folder and returns its output and exit code. ${place} Standard input is empty, at most ${Math.round(timeMs / 1000)} s, and no process outlives its command.`;
}

/** The reason to ask: the exact command. The lines of a script are shown as they are. */
type CommandPlace = Pick<ShellToolOptions, "sandbox"> & {
  readonly report: SandboxReport;
  readonly folder: string;
};

/** The exact command, where it runs, and what the sandbox lets it reach. */
function describeCommand(input: ShellInput, { report, folder, sandbox }: CommandPlace): UiHint {
  const { readable = [], writable = [] } = typeof sandbox === "object" ? sandbox : {};
  const listPaths = (paths: readonly string[]) => ["the working folder", ...paths].join(", ");
  const allows =
    report.type === "none"
      ? [{ what: "Sandbox", answer: `none (${report.reason}): it has all your rights` }]
      : [
          { what: "Network", answer: report.network ? "allowed" : "none" },
          { what: "Can change", answer: listPaths(writable) },
          ...(readable.length > 0 ? [{ what: "Can also read", answer: readable.join(", ") }] : []),
        ];
  return { kind: "command", props: { command: formatCommand(toCommand(input)), folder, allows } };
}

function describeCall(report: SandboxReport, input: ShellInput): string {
  const place =
    report.type === "none"
      ? `WITHOUT a sandbox (${report.reason}), with all your rights`
      : `in a sandbox ${report.network ? "with network access" : "without network"}`;
  return input.script === undefined ? `Runs ${place}: ${formatTarget(input)}` : `Runs a script ${place}.`;
}

type ExecuteOptions = {
  readonly cwd: string;
  readonly sandbox: Sandbox;
  readonly limits: ShellLimits;
  readonly options: EnvironmentOptions;
};

async function execute(
  input: ShellInput,
  { signal, progress }: ToolContext,
  { cwd, sandbox, limits, options }: ExecuteOptions,
): Promise<ToolReturn> {
  const { command, script } = toCommand(input);
  const shell = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
  const reporter = createProgress(progress);
  const startedAt = performance.now();
  try {
    const result = await runCommand({
      argv: command ?? [shell, "-c", script],
      folder: findFolder(cwd, input.folder),
      ...{ sandbox, limits, signal, environment: options, onOutput: reporter.add },
    });
    return formatCommandResult(result, {
      limits,
      ms: Math.round(performance.now() - startedAt),
      report: sandbox.report,
    });
  } finally {
    reporter.close();
  }
}

function formatCommandResult(
  { exitCode, signal, output, stopped, disarmed = [] }: CommandResult,
  {
    limits,
    ms,
    report,
  }: { readonly limits: ShellLimits; readonly ms: number; readonly report: SandboxReport },
): ToolReturn {
  const causes = {
    time: `the time limit of ${limits.timeMs} ms`,
    output: `the output limit of ${limits.outputBytes} bytes`,
    memory: `the memory limit of ${limits.memoryMb} MB`,
    processes: `the limit of ${limits.processes} processes`,
  };
  const end = signal === null ? `Exit code ${exitCode}.` : `Ended by ${signal} (exit code ${exitCode}).`;
  const exit = stopped ? `Stopped: the command reached ${causes[stopped]}.` : end;
  const message = disarmed.length > 0 ? `${exit} ${describeDisarmed(disarmed)}` : exit;
  const text = output.text.trimEnd();
  return {
    content: text === "" ? `${message} No output.` : `${message}\n${text}`,
    message,
    data: {
      ...{ exitCode, signal, ms, bytes: output.bytes, sandbox: report.type },
      ...(output.isTruncated && { isTruncated: true }),
      ...(stopped && { stopped }),
      ...(disarmed.length > 0 && { disarmed }),
    },
  };
}

const maxListedPaths = 10;

function describeDisarmed(paths: readonly string[]): string {
  const listed = paths.slice(0, maxListedPaths).map(quotePath).join(", ");
  const more = paths.length > maxListedPaths ? ` and ${paths.length - maxListedPaths} more` : "";
  return `Commands cannot create repositories, because git outside the sandbox would execute what they name. Renamed to: ${listed}${more}.`;
}

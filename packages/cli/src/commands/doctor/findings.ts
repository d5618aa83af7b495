import { run } from "capstan";
import { keyState } from "capstan/models/default";
import { formatCount } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { loadProject, type Project } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import { getModelName } from "../../workspace/create-agents.ts";
import { collectMcpServers, startServers } from "../../workspace/mcp-servers.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import { createAgentsWithoutMcp, formatKeyColumn } from "../models/list-models.ts";
import type { DoctorFlags } from "./doctor.ts";

/** Result of one check. */
export type Finding = {
  readonly what: string;
  /** `limited`: works, with a limitation. */
  readonly state: "ok" | "limited" | "broken";
  readonly says: string;
  /** Next step for the user. */
  readonly advice?: string;
};

/** Returns the message of any thrown value. */
export const getErrorMessage = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** Always ok: the program does not start on an older version. */
export function checkNode(): Finding {
  return { what: "Node", state: "ok", says: process.versions.node };
}

/** Loads the project; returns an empty one when its config is broken. */
export async function checkProject(
  flags: WorkspaceFlags,
  io: Io,
): Promise<{ readonly project: Project; readonly finding: Finding }> {
  const what = "Configuration";
  try {
    const project = await loadProject(flags, io, "optional");
    const { configFile, mcpFile } = project;
    const found = [configFile, mcpFile].filter((file) => file !== undefined).join(" and ");
    if (project.untrusted.length > 0) {
      const advice = "Review it, then run capstan once with --trust.";
      return { project, finding: { what, state: "limited", says: formatUntrusted(project), advice } };
    }
    const says = found || "none; using one agent with file and web tools (`capstan init` creates a project)";
    return { project, finding: { what, state: "ok", says } };
  } catch (error) {
    const finding = {
      what,
      state: "broken",
      says: getErrorMessage(error),
      advice: "Fix the file.",
    } as const;
    return { project: { config: {}, skillFolders: [], untrusted: [], notices: [] }, finding };
  }
}

/** Untrusted skills can be loaded by name; other untrusted files have no effect. */
function formatUntrusted({ untrusted, skillFolders }: Project): string {
  const skills = untrusted.filter((file) => skillFolders.includes(file)).join(" and ");
  const others = untrusted.filter((file) => !skillFolders.includes(file)).join(" and ");
  return [
    ...(others ? [`${others} is not used, because it is not trusted as it is now`] : []),
    ...(skills
      ? [
          `the skills in ${skills} are not trusted as they are now: they are not in the instructions, and their text is external content`,
        ]
      : []),
  ].join("; ");
}

/** Checks the model and its key, and with `--online` whether it answers. */
export async function checkModel(
  flags: DoctorFlags,
  { config }: Project,
  io: Io,
): Promise<readonly Finding[]> {
  const what = "Model";
  try {
    const { agent } = await createAgentsWithoutMcp(flags, config, io);
    const model = getModelName(agent);
    if (model.startsWith("offline")) {
      const advice =
        "For a real model, set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or start Ollama.";
      return [{ what, state: "limited", says: "the offline model: rules, not AI", advice }];
    }
    const key = keyState(model, io.env);
    if (key.type === "missing" && typeof agent.models.main[0] === "string")
      return [
        {
          what,
          state: "broken",
          says: `no API key for ${model}`,
          advice: `${formatKeyColumn(key)}, or choose another with -m.`,
        },
      ];
    const finding: Finding = { what, state: "ok", says: `${model} (key: ${formatKeyColumn(key)})` };
    return flags.online ? [finding, await checkModelAnswer(agent)] : [finding];
  } catch (error) {
    return [
      {
        what,
        state: "broken",
        says: getErrorMessage(error),
        advice: "Run `capstan models` to list the models.",
      },
    ];
  }
}

async function checkModelAnswer(agent: Parameters<typeof run>[0]): Promise<Finding> {
  const what = "Model answer";
  const { toolSource: _, ...rest } = agent;
  const bare = { ...rest, tools: new Map(), specs: [], instructions: "Answer with one word." };
  const signal = AbortSignal.timeout(30_000);
  const { status, error, text } = await run(bare, "Say ok.", {
    store: memory(),
    signal,
    policy: { maxTurns: 1 },
  });
  if (status === "done" || status === "limit") return { what, state: "ok", says: text.slice(0, 60) };
  const advice = "Check the key and the network, or choose another model with -m.";
  return { what, state: "broken", says: error?.message ?? text, advice };
}

/** Starts every MCP server and stops it again. */
export async function checkMcpServers(
  flags: DoctorFlags,
  project: Project,
  io: Io,
): Promise<readonly Finding[]> {
  const none: Finding = { what: "MCP servers", state: "ok", says: "none (`capstan mcp add` adds one)" };
  try {
    const mcp = await startServers(collectMcpServers(flags, project, io), io, { isScript: true });
    if (!mcp) return [none];
    try {
      return mcp.status().map(({ name, state, error, tools, changed, isApproved, problems }): Finding => {
        const what = `MCP server ${name}`;
        if (state === "off") return { what, state: "ok", says: "off" };
        if (state !== "ready")
          return {
            what,
            state: "broken",
            says: error?.message ?? state,
            advice: "Check its command or URL.",
          };
        const says = `${formatCount(tools.length, "tool")}: ${tools.join(", ")}`;
        const trouble = [
          ...changed.map((tool) => `${tool.name} has changed and is disabled`),
          ...(isApproved ? [] : ["What the model reads of it is not approved"]),
          ...problems,
        ];
        if (trouble.length === 0) return { what, state: "ok", says };
        const advice = isApproved ? {} : { advice: `Run \`capstan mcp review ${name}\`.` };
        return { what, state: "limited", says: `${says}. ${trouble.join(". ")}`, ...advice };
      });
    } finally {
      await mcp.close();
    }
  } catch (error) {
    return [
      {
        what: "MCP servers",
        state: "broken",
        says: getErrorMessage(error),
        advice: "Fix the config.",
      },
    ];
  }
}

import { posix, win32 } from "node:path";
import { userFolder } from "capstan/data-folder";

/** A program that Capstan can be installed in, as an MCP server. */
export type McpClient = {
  readonly title: string;
  /** Name of the object with the servers in its file. */
  readonly section: "mcpServers" | "servers" | "context_servers";
  /** Whether an entry names its transport. */
  readonly hasType: boolean;
  /** What the user does for the change to take effect. */
  readonly next: string;
  getFile(machine: Machine): string;
};

export type McpClientName = "claude-code" | "claude-desktop" | "vscode" | "cursor" | "zed";

/** Where the files of programs are. */
export type Machine = {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** The user's configuration of each client: it applies in every folder, and is not shared with a project. */
export const mcpClients: Readonly<Record<McpClientName, McpClient>> = {
  "claude-code": {
    title: "Claude Code",
    section: "mcpServers",
    hasType: true,
    next: "Start a new session of Claude Code; /mcp lists the server.",
    getFile: ({ platform, env }) =>
      getPathModule(platform).join(env.CLAUDE_CONFIG_DIR || userFolder(env), ".claude.json"),
  },
  "claude-desktop": {
    title: "Claude Desktop",
    section: "mcpServers",
    hasType: false,
    next: "Quit Claude Desktop and start it again.",
    getFile: (machine) => joinConfigFolder(machine, "Claude", "claude_desktop_config.json"),
  },
  vscode: {
    title: "VS Code",
    section: "servers",
    hasType: true,
    next: "Run the command “MCP: List Servers” in VS Code to start the server.",
    getFile: (machine) => joinConfigFolder(machine, "Code", "User", "mcp.json"),
  },
  cursor: {
    title: "Cursor",
    section: "mcpServers",
    hasType: true,
    next: "Restart Cursor, and enable the server in its settings.",
    getFile: ({ platform, env }) => getPathModule(platform).join(userFolder(env), ".cursor", "mcp.json"),
  },
  zed: {
    title: "Zed",
    section: "context_servers",
    hasType: false,
    next: "The agent panel of Zed lists the server.",
    // On macOS, Zed uses ~/.config, unlike the others.
    getFile: ({ platform, env }) =>
      platform === "win32"
        ? joinConfigFolder({ platform, env }, "Zed", "settings.json")
        : posix.join(
            (platform === "linux" && env.XDG_CONFIG_HOME) || posix.join(userFolder(env), ".config"),
            ...["zed", "settings.json"],
          ),
  },
};

export const mcpClientNames = Object.keys(mcpClients) as readonly McpClientName[];

const getPathModule = (platform: NodeJS.Platform) => (platform === "win32" ? win32 : posix);

/** Joins a path in the folder for the settings of applications. */
function joinConfigFolder({ platform, env }: Machine, ...names: readonly string[]): string {
  const { join } = getPathModule(platform);
  const home = userFolder(env);
  if (platform === "darwin") return join(home, "Library", "Application Support", ...names);
  if (platform === "win32") return join(env.APPDATA || join(home, "AppData", "Roaming"), ...names);
  return join(env.XDG_CONFIG_HOME || join(home, ".config"), ...names);
}

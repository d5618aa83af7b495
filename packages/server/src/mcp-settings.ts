import type { CallbackRedirect, ServerConfig } from "@capstan/mcp";

/** Stores the MCP servers that admins add, so that they are started again with the process. */
export interface McpServerFile {
  /** Shown to admins. */
  readonly path: string;
  /** Returns the names of the stored servers. Only these can be removed. */
  list(): Promise<readonly string[]>;
  put(name: string, config: ServerConfig): Promise<void>;
  remove(name: string): Promise<void>;
}

/** What admins may do with the MCP servers. */
export type McpSettings = {
  /** Without it, servers cannot be added or removed. */
  readonly file?: McpServerFile;
  /** The same that the servers were opened with. Without it, users cannot sign in to servers. */
  readonly redirect?: CallbackRedirect;
  /**
   * Whether admins may add servers that are programs, and use `${VAR}`. The owner of an admin's key can then run commands
   * on this machine and read its environment. Default: false.
   */
  readonly allowsCommands?: boolean;
};

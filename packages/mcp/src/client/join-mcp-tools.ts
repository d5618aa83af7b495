import type { McpTools } from "./mcp-tools.ts";

/** Presents two sets of servers as one. New servers join the first set, which also wins if both have a name. */
export function joinMcpTools(first: McpTools, second: McpTools): McpTools {
  const listNames = (mcp: McpTools) => mcp.status().map(({ name }) => name);
  const find = (server: string) =>
    !listNames(first).includes(server) && listNames(second).includes(server) ? second : first;
  return {
    get tools() {
      const known = new Set(first.tools.map(({ name }) => name));
      return [...first.tools, ...second.tools.filter(({ name }) => !known.has(name))];
    },
    status() {
      const known = new Set(listNames(first));
      return [...first.status(), ...second.status().filter(({ name }) => !known.has(name))];
    },
    async refreshTools() {
      await Promise.all([first.refreshTools(), second.refreshTools()]);
    },
    trust: (server, ...rest) => find(server).trust(server, ...rest),
    resources: (server) => find(server).resources(server),
    readResource: (server, uri) => find(server).readResource(server, uri),
    findApp: (tool) => first.findApp(tool) ?? second.findApp(tool),
    appTools: (server) => find(server).appTools(server),
    prompts: (server) => find(server).prompts(server),
    getPrompt: (server, ...rest) => find(server).getPrompt(server, ...rest),
    add: (name, config) => find(name).add(name, config),
    remove: (name) => find(name).remove(name),
    signIn: (server) => find(server).signIn(server),
    signOut: (server) => find(server).signOut(server),
    traffic: (server, after) => find(server).traffic(server, after),
    async close() {
      await Promise.all([first.close(), second.close()]);
    },
  };
}

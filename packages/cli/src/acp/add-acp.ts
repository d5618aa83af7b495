import type { AddCommand } from "../commands/command.ts";

const examples = `
Examples:
  $ capstan acp                          serve the agent to the editor that starts it
  $ capstan acp -m openai/gpt-5:high

Editor config, for example in Zed: {"agent_servers": {"Capstan": {"command": "capstan", "args": ["acp"]}}}

Each session uses the config of its folder. An untrusted config is rejected: review it, then run
\`capstan --trust\` in the folder once.`;

/** Adds `capstan acp`, the Agent Client Protocol. */
export const addAcp: AddCommand = (program, io, outcome) => {
  program
    .command("acp")
    .description("serve the agent over stdio to an ACP editor: Zed, JetBrains, Neovim")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { serveAcp } = await import("./serve-acp.ts");
      await serveAcp(command.optsWithGlobals(), io, outcome);
    });
};

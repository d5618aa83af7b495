import type { AddCommand } from "../commands/command.ts";

const examples = `
Examples:
  $ capstan acp                          the agent, for an editor that starts this command
  $ capstan acp -m openai/gpt-5:high

An editor's configuration, such as Zed's: {"agent_servers": {"Capstan": {"command": "capstan", "args": ["acp"]}}}

Each session has the configuration of its folder. One that is not trusted is refused: look at it, then run
\`capstan --trust\` in the folder once.`;

/** `capstan acp`: the agent in an editor, over the Agent Client Protocol. */
export const addAcp: AddCommand = (program, io, outcome) => {
  program
    .command("acp")
    .description("serve the agent over stdio to an editor that speaks ACP: Zed, JetBrains, Neovim")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { serveAcp } = await import("./serve-acp.ts");
      await serveAcp(command.optsWithGlobals(), io, outcome);
    });
};

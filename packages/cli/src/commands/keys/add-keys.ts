import { rejectArguments } from "../../errors/unknown-command.ts";
import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan keys create alice                 her key for \`capstan serve\`, shown once
  $ capstan keys create ci --expires 30d      d, h or m
  $ capstan keys list
  $ capstan keys revoke 2b185bc5a80e49ff    its id, as \`keys list\` shows it

As soon as there is a key, the server wants one from everybody. Keys are in the database: use the same --database.`;

/** `capstan keys`: who may use the server. */
export const addKeys: AddCommand = (program, io) => {
  const actions = () => import("./key-actions.ts");
  const keys = program
    .command("keys")
    .description("create, list and revoke keys of the server's users")
    .addHelpText("after", examples)
    .allowExcessArguments()
    .action(async (_options, command) => {
      await rejectArguments(command);
      await (await actions()).listKeys(command.optsWithGlobals(), io);
    });
  keys
    .command("create")
    .description("make a key and print it; it cannot be shown again")
    .argument("<user>")
    .option("--admin", "may change what all users share")
    .option("--expires <time>", "30d, 12h, 45m, or a date such as 2027-01-31")
    .option("--json", "as a JSON object")
    .action(async (user, _options, command) =>
      (await actions()).createKey(user, command.optsWithGlobals(), io),
    );
  keys
    .command("list")
    .alias("ls")
    .description("all keys, without their secrets")
    .option("--json", "as a JSON list")
    .action(async (_options, command) => (await actions()).listKeys(command.optsWithGlobals(), io));
  keys
    .command("revoke")
    .alias("rm")
    .description("make a key useless, from now on")
    .argument("<id>")
    .action(async (id, _options, command) => (await actions()).revokeKey(id, command.optsWithGlobals(), io));
};

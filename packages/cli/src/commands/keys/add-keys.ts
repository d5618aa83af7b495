import { rejectArguments } from "../../errors/unknown-command.ts";
import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan keys create alice                 a key for \`capstan serve\`, shown once
  $ capstan keys create ci --expires 30d      d, h or m
  $ capstan keys list
  $ capstan keys revoke 2b185bc5a80e49ff    the id from \`keys list\`

Once a key exists, every request to the server needs one. Keys are stored in the database: use the same --database.`;

/** Adds `capstan keys`. */
export const addKeys: AddCommand = (program, io) => {
  const actions = () => import("./key-actions.ts");
  const keys = program
    .command("keys")
    .description("create, list and revoke API keys of the server")
    .addHelpText("after", examples)
    .allowExcessArguments()
    .action(async (_options, command) => {
      await rejectArguments(command);
      await (await actions()).listKeys(command.optsWithGlobals(), io);
    });
  keys
    .command("create")
    .description("create a key and print it once")
    .argument("<user>")
    .option("--admin", "allow changes to shared data")
    .option("--expires <time>", "30d, 12h, 45m, or a date such as 2027-01-31")
    .option("--json", "print a JSON object")
    .action(async (user, _options, command) =>
      (await actions()).createKey(user, command.optsWithGlobals(), io),
    );
  keys
    .command("list")
    .alias("ls")
    .description("list all keys, without their secrets")
    .option("--json", "print a JSON list")
    .action(async (_options, command) => (await actions()).listKeys(command.optsWithGlobals(), io));
  keys
    .command("revoke")
    .alias("rm")
    .description("revoke a key immediately")
    .argument("<id>")
    .action(async (id, _options, command) => (await actions()).revokeKey(id, command.optsWithGlobals(), io));
};

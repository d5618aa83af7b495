import { InvalidArgumentError } from "commander";
import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan app                               list the apps, what they read, and your data
  $ capstan app knowledge ~/notes ~/mail.mbox open the studio on your documents
  $ capstan app knowledge ~/notes -p "What did we decide in May?"
  $ capstan app knowledge-notes               open data that you added before, by its name
  $ capstan app graph people.csv --set source=From --set target=To
  $ capstan app airport terminal.imdf.zip --title "Terminal 2" --chat
  $ capstan app remove knowledge-notes

The data is remembered: the studio and later commands list it. Files are read where they are, never changed or
moved. The names of apps and data are also agents: capstan --agent knowledge-notes`;

/** Adds `capstan app`. */
export const addApp: AddCommand = (program, io, outcome) => {
  const actions = () => import("./app-actions.ts");
  const app = program
    .command("app")
    .description("open an app on your own files, folders or databases")
    .argument("[app]", "an app, or data that you added before; without it, lists both")
    .argument("[paths...]", "files and folders, or addresses such as bolt://localhost")
    .option("--title <text>", "what to call the data; default: the name of the first file or folder")
    .option(
      "--set <name=value>",
      "a choice of the app, such as a column; may be repeated",
      collectSetting,
      {},
    )
    .option("--chat", "chat in the terminal instead of the studio")
    .option("--port <port>", "preferred port; falls back to the next free one (default 4680)")
    .option("--no-open", "do not open a browser")
    .option("--json", "without an app: print a JSON object")
    .addHelpText("after", examples)
    // biome-ignore lint/complexity/useMaxParams: commander passes the arguments one by one
    .action(async (name: string | undefined, paths: string[], _options, command) => {
      const flags = command.optsWithGlobals();
      if (name === undefined) return (await actions()).listApps(flags, io);
      await (await actions()).openApp({ name, paths }, flags, { io, outcome });
    });
  app
    .command("remove")
    .description("forget data, and delete its copies; your files and sessions are kept")
    .argument("<name>", "the name that `capstan app` lists")
    .action(async (name: string, _options, command) =>
      (await actions()).removeData(name, command.optsWithGlobals(), io),
    );
};

type Settings = Readonly<Record<string, unknown>>;

/** Numbers, booleans and lists are written as in JSON. Anything else is text. */
function collectSetting(text: string, settings: Settings): Settings {
  const [, name, value = ""] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError("Must be name=value, such as source=From.");
  return { ...settings, [name]: parseSetting(value) };
}

function parseSetting(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

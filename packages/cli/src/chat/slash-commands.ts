import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ExportFormat } from "capstan/sessions";
import { session, sessions } from "capstan/sessions";
import type { Io } from "../io.ts";
import { formatAge } from "../output/format-age.ts";
import { findSession } from "../sessions/find-session.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { measureWidth, truncateColumns, wrapText } from "../terminal/wrap.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import type { ChatState } from "./conversation.ts";
import { shortenSessionId } from "./format-usage.ts";
import type { Transcript } from "./transcript.ts";
import type { View } from "./view.ts";

/** What commands work on. */
export type CommandContext = {
  readonly chatState: ChatState;
  readonly view: View;
  readonly transcript: Transcript;
  readonly io: Io;
  /** Makes another session the one that is talked in; a new one when left out. */
  open(sessionId: string | undefined): Promise<void>;
  /** Opens the workspace with another model; left out where that cannot be. */
  reopen?(flags: Pick<WorkspaceFlags, "model">): Promise<void>;
  leave(): void;
  /** The sessions that were listed last: numbers stand for them. */
  listedSessions: readonly string[];
};

/** A command that begins with a slash. */
export type SlashCommand = {
  readonly name: string;
  /** What may follow the name. */
  readonly takes?: string;
  readonly about: string;
  /** Needs not wait until a run has ended. */
  readonly worksDuringRun?: true;
  run(context: CommandContext, argument: string): void | Promise<void>;
};

/** All of them, in the order that help shows. */
export const slashCommands: readonly SlashCommand[] = [
  { name: "help", about: "what there is to type", worksDuringRun: true, run: showHelp },
  { name: "model", takes: "[provider/model]", about: "show the model, or take another", run: changeModel },
  { name: "agents", takes: "[name]", about: "list the agents, or talk to another", run: changeAgent },
  { name: "tools", about: "what the agent can use", worksDuringRun: true, run: showTools },
  { name: "mcp", about: "the MCP servers and their state", worksDuringRun: true, run: showMcpServers },
  { name: "sessions", takes: "[words]", about: "list sessions, or find words in them", run: showSessions },
  { name: "resume", takes: "[number or id]", about: "go on with another session", run: resumeSession },
  { name: "fork", about: "go on in a copy of this session", run: forkSession },
  { name: "new", about: "begin a new session", run: (context) => context.open(undefined) },
  { name: "rename", takes: "title", about: "give this session a title", run: renameSession },
  {
    name: "export",
    takes: "[file]",
    about: "write this session to a .md, .html or .json file",
    run: exportSession,
  },
  {
    name: "reasoning",
    about: "show what the model thought last",
    worksDuringRun: true,
    run: ({ transcript }) => transcript.showReasoning(),
  },
  { name: "quit", about: "leave", worksDuringRun: true, run: (context) => context.leave() },
];

/** The command that a line names; undefined when it is something to say. */
export function findCommand(text: string): SlashCommand | undefined {
  const name = /^\/(\w+)(?:\s|$)/.exec(text)?.[1];
  return slashCommands.find((command) => command.name === name);
}

const minColumnWidth = 20;

/** A heading and rows of two columns. */
function printTable(view: View, title: string, rows: readonly (readonly [string, string])[]): void {
  const { style } = view;
  const columns = view.getColumns();
  const room = Math.min(Math.max(...rows.map(([left]) => measureWidth(left))), Math.floor(columns * 0.45));
  // Where a second column would be too narrow, it goes below.
  const isNarrow = columns - room - 4 < minColumnWidth;
  const lines = rows.flatMap(([left, right]) => {
    const name = truncateColumns(left, isNarrow ? columns - 2 : room);
    if (isNarrow)
      return [
        `  ${style.cyan(name)}`,
        ...wrapText(right, columns - 4).map((line) => `    ${style.dim(line)}`),
      ];
    const first = `  ${style.cyan(name)}${" ".repeat(Math.max(0, room - measureWidth(name)))}  `;
    const words = wrapText(right, columns - room - 4);
    return words.map((line, n) => (n === 0 ? first : " ".repeat(room + 4)) + style.dim(line));
  });
  view.print([style.bold(title), ...lines]);
}

/** What keys do, in the order that help shows. */
export const chatKeys: readonly (readonly [string, string])[] = [
  ["Enter", "send; during a run, steer it"],
  ["Shift+Enter, Ctrl-J, \\ Enter", "a new line"],
  ["@path", "bring a file along; Tab completes"],
  ["Up, Down", "what you typed before"],
  ["Ctrl-O", "show all of what was folded last"],
  ["Esc, Ctrl-C", "stop the run; Ctrl-C twice leaves"],
];

function showHelp({ view }: CommandContext): void {
  const rows = slashCommands.map(
    ({ name, takes, about }) => [`/${name}${takes ? ` ${takes}` : ""}`, about] as const,
  );
  printTable(view, "Commands", rows);
  printTable(view, "Keys", chatKeys);
}

async function changeModel({ chatState, transcript, reopen }: CommandContext, name: string): Promise<void> {
  if (name === "")
    transcript.showNotice(`${chatState.workspace.modelName} answers. /model provider/model takes another.`);
  else if (!reopen)
    transcript.showNotice("The model cannot be changed here: start again with -m provider/model.", "yellow");
  else {
    await reopen({ model: name });
    transcript.showNotice(`${chatState.workspace.modelName} answers from now on.`);
  }
}

function changeAgent({ chatState, view, transcript }: CommandContext, name: string): void {
  const all = chatState.workspace.agents;
  if (name === "") {
    const about = (agent: (typeof all)[number]) =>
      agent === chatState.agent ? "talks with you" : `/agents ${agent.name}`;
    printTable(
      view,
      "Agents",
      all.map((agent) => [escapeTerminalLine(agent.name), escapeTerminalLine(about(agent))]),
    );
    return;
  }
  const found = all.find((agent) => agent.name === name);
  if (found) chatState.agent = found;
  if (found) transcript.showNotice(`You talk with ${found.name} from now on.`);
  else transcript.showNotice(`There is no agent "${name}". /agents lists them.`, "yellow");
}

function showTools({ chatState, view, transcript }: CommandContext): void {
  const { agent } = chatState;
  const own = agent.toolSource?.() ?? [...agent.tools.values()];
  if (own.length === 0) transcript.showNotice(`${agent.name} has no tools.`);
  else
    printTable(
      view,
      "Tools",
      own.map(({ name, description }) => [escapeTerminalLine(name), getFirstSentence(description)]),
    );
}

function getFirstSentence(text: string): string {
  const line = escapeTerminalLine(text);
  return truncateColumns(/^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line, 160);
}

function showMcpServers({ chatState, view, transcript }: CommandContext): void {
  const servers = chatState.workspace.mcp?.status() ?? [];
  if (servers.length === 0) {
    transcript.showNotice("No MCP servers. `capstan mcp add` adds one.");
    return;
  }
  printTable(
    view,
    "MCP servers",
    servers.map(({ name, state, tools: offered, error, problems }) => {
      const trouble = [...(error ? [error.message] : []), ...problems]
        .map((problem) => `; ${problem}`)
        .join("");
      return [escapeTerminalLine(name), escapeTerminalLine(`${state}, ${offered.length} tools${trouble}`)];
    }),
  );
}

const maxListed = 20;

async function showSessions(context: CommandContext, words: string): Promise<void> {
  const { chatState, view, transcript } = context;
  const stored = sessions(chatState.workspace.store);
  const found = words === "" ? undefined : await stored.search(words, { limit: maxListed });
  const rows = found
    ? found.map(({ id, title, places }) => ({ id, title, about: places[0]?.excerpt ?? "" }))
    : (await stored.list({ limit: maxListed })).map(({ id, title, updatedAt }) => ({
        id,
        title,
        about: formatAge(updatedAt, Date.now()),
      }));
  context.listedSessions = rows.map(({ id }) => id);
  if (rows.length === 0) {
    transcript.showNotice(words === "" ? "There are no sessions yet." : `Nothing was found for "${words}".`);
    return;
  }
  const here = (id: string) => (id === chatState.sessionId ? ", this one" : "");
  const wide = Math.max(12, Math.floor(view.getColumns() * 0.45) - 4);
  printTable(
    view,
    "Sessions (/resume 1 goes on with the first)",
    rows.map(({ id, title, about }, n) => [
      `${String(n + 1).padStart(2)} ${truncateColumns(escapeTerminalLine(title), wide)}`,
      `${shortenSessionId(id)}, ${escapeTerminalLine(about)}${here(id)}`,
    ]),
  );
}

async function resumeSession(context: CommandContext, named: string): Promise<void> {
  if (named === "") return showSessions(context, "");
  const id =
    context.listedSessions[Number(named) - 1] ??
    (await findSession(context.chatState.workspace.store, named));
  await context.open(id);
}

async function forkSession(context: CommandContext): Promise<void> {
  const { chatState, transcript } = context;
  if (chatState.sessionId === undefined) {
    transcript.showNotice("Nothing was said yet, so there is nothing to copy.", "yellow");
    return;
  }
  const original = session(chatState.workspace.store, chatState.sessionId);
  const copy = await original.fork((await original.facts()).length);
  chatState.sessionId = copy.id;
  transcript.showNotice(
    `You go on in a copy, ${shortenSessionId(copy.id)}. The session it was made from stays as it is.`,
  );
}

async function renameSession({ chatState, transcript }: CommandContext, title: string): Promise<void> {
  if (chatState.sessionId === undefined)
    transcript.showNotice("Say something first: there is no session yet.", "yellow");
  else if (title === "") transcript.showNotice("Give a title: /rename the tax question", "yellow");
  else {
    await session(chatState.workspace.store, chatState.sessionId).rename(escapeTerminalLine(title));
    transcript.showNotice(`This session is called "${title}".`);
  }
}

const formats: Readonly<Record<string, ExportFormat>> = { md: "markdown", html: "html", json: "json" };

async function exportSession({ chatState, transcript, io }: CommandContext, file: string): Promise<void> {
  if (chatState.sessionId === undefined) {
    transcript.showNotice("Say something first: there is no session yet.", "yellow");
    return;
  }
  const name = file || `session-${shortenSessionId(chatState.sessionId)}.md`;
  const format = formats[name.split(".").at(-1)?.toLowerCase() ?? ""];
  if (!format) {
    transcript.showNotice(`"${name}" must end with .md, .html or .json.`, "yellow");
    return;
  }
  const text = await session(chatState.workspace.store, chatState.sessionId).export(format);
  // Never over a file that is there.
  await writeFile(resolve(io.cwd, name), text, { flag: "wx", mode: 0o600 });
  transcript.showNotice(`Written to ${name}.`);
}

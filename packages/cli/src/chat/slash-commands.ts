import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ExportFormat } from "capstan/sessions";
import { formatCount, session, sessions } from "capstan/sessions";
import type { Io } from "../io.ts";
import { formatAge } from "../output/format-age.ts";
import { findSession } from "../sessions/find-session.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { truncateColumns } from "../terminal/wrap.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import { showApprovals } from "./approvals-command.ts";
import type { ChatState } from "./conversation.ts";
import { changeEffort } from "./effort-command.ts";
import { shortenSessionId } from "./format-usage.ts";
import { printTable } from "./print-table.ts";
import type { Transcript } from "./transcript.ts";
import type { View } from "./view.ts";

/** Passed to every command. */
export type CommandContext = {
  readonly chatState: ChatState;
  readonly view: View;
  readonly transcript: Transcript;
  readonly io: Io;
  /** Switches to another session, or to a new one. */
  open(sessionId: string | undefined): Promise<void>;
  /** Continues the session's failed run. */
  retry(): Promise<void>;
  /** Summarizes the history of the session. */
  compact(): Promise<void>;
  /** Reopens the workspace with another model; undefined when not supported. */
  reopen?(flags: Pick<WorkspaceFlags, "model">): Promise<void>;
  leave(): void;
  /** Sessions listed last; numbers refer to them. */
  listedSessions: readonly string[];
};

/** A slash command. */
export type SlashCommand = {
  readonly name: string;
  /** Arguments, for the help. */
  readonly takes?: string;
  readonly about: string;
  /** Works during a run too. */
  readonly worksDuringRun?: true;
  run(context: CommandContext, argument: string): void | Promise<void>;
};

/** All commands, in the order of the help. */
export const slashCommands: readonly SlashCommand[] = [
  { name: "help", about: "show commands and keys", worksDuringRun: true, run: showHelp },
  { name: "model", takes: "[provider/model]", about: "show or change the model", run: changeModel },
  {
    name: "effort",
    takes: "[level or tokens]",
    about: "show or change how much the model reasons",
    run: changeEffort,
  },
  { name: "agents", takes: "[name]", about: "list agents, or switch to another", run: changeAgent },
  { name: "tools", about: "list the agent's tools", worksDuringRun: true, run: showTools },
  { name: "mcp", about: "list MCP servers and their state", worksDuringRun: true, run: showMcpServers },
  {
    name: "approvals",
    takes: "[revoke number]",
    about: "list or revoke what is always allowed",
    worksDuringRun: true,
    run: showApprovals,
  },
  { name: "sessions", takes: "[words]", about: "list or search sessions", run: showSessions },
  { name: "resume", takes: "[number or id]", about: "resume another session", run: resumeSession },
  { name: "retry", about: "retry the last run after its model failed", run: (context) => context.retry() },
  { name: "compact", about: "summarize older messages now", run: (context) => context.compact() },
  { name: "fork", about: "continue in a copy of this session", run: forkCurrentSession },
  { name: "new", about: "start a new session", run: (context) => context.open(undefined) },
  { name: "rename", takes: "title", about: "set the title of this session", run: renameSession },
  {
    name: "export",
    takes: "[file]",
    about: "export this session to a .md, .html or .json file",
    run: exportChat,
  },
  {
    name: "reasoning",
    about: "show the model's latest reasoning",
    worksDuringRun: true,
    run: ({ transcript }) => transcript.showReasoning(),
  },
  { name: "quit", about: "exit", worksDuringRun: true, run: (context) => context.leave() },
];

/** Returns the command that a line names; undefined for a message. */
export function findCommand(text: string): SlashCommand | undefined {
  const name = /^\/(\w+)(?:\s|$)/.exec(text)?.[1];
  return slashCommands.find((command) => command.name === name);
}

/** Keys, in the order of the help. */
export const chatKeys: readonly (readonly [string, string])[] = [
  ["Enter", "send; during a run, steer it"],
  ["Shift+Enter, Ctrl-J, \\ Enter", "new line"],
  ["@path", "attach a file; Tab completes"],
  ["Up, Down", "previous prompts"],
  ["Ctrl-O", "show the last folded output in full"],
  ["Esc, Ctrl-C", "stop the run; Ctrl-C twice exits"],
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
    transcript.showNotice(`Model: ${chatState.workspace.modelName}. Change it with /model provider/model.`);
  else if (!reopen)
    transcript.showNotice("The model cannot be changed here. Restart with -m provider/model.", "yellow");
  else {
    await reopen({ model: name });
    transcript.showNotice(`Switched to ${chatState.workspace.modelName}.`);
  }
}

function changeAgent({ chatState, view, transcript }: CommandContext, name: string): void {
  const all = chatState.workspace.agents;
  if (name === "") {
    const about = (agent: (typeof all)[number]) =>
      agent === chatState.agent ? "current agent" : `/agents ${agent.name}`;
    printTable(
      view,
      "Agents",
      all.map((agent) => [escapeTerminalLine(agent.name), escapeTerminalLine(about(agent))]),
    );
    return;
  }
  const found = all.find((agent) => agent.name === name);
  if (found) chatState.agent = found;
  if (found) transcript.showNotice(`Switched to ${found.name}.`);
  else transcript.showNotice(`Agent "${name}" not found. /agents lists all agents.`, "yellow");
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
    transcript.showNotice("No MCP servers. Add one with `capstan mcp add`.");
    return;
  }
  printTable(
    view,
    "MCP servers",
    servers.map(({ name, state, tools: offered, isApproved, error, problems }) => {
      const trouble = [
        ...(error ? [error.message] : []),
        ...(isApproved ? [] : ["not approved"]),
        ...problems,
      ]
        .map((problem) => `; ${problem}`)
        .join("");
      return [
        escapeTerminalLine(name),
        escapeTerminalLine(`${state}, ${formatCount(offered.length, "tool")}${trouble}`),
      ];
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
    transcript.showNotice(words === "" ? "No sessions yet." : `No results for "${words}".`);
    return;
  }
  const here = (id: string) => (id === chatState.sessionId ? ", current" : "");
  const wide = Math.max(12, Math.floor(view.getColumns() * 0.45) - 4);
  printTable(
    view,
    "Sessions (/resume 1 resumes the first)",
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

async function forkCurrentSession(context: CommandContext): Promise<void> {
  const { chatState, transcript } = context;
  if (chatState.sessionId === undefined) {
    transcript.showNotice("Nothing to copy: this session is empty.", "yellow");
    return;
  }
  const original = session(chatState.workspace.store, chatState.sessionId);
  const copy = await original.fork((await original.facts()).length);
  chatState.sessionId = copy.id;
  transcript.showNotice(
    `Continuing in a copy, ${shortenSessionId(copy.id)}. The original session is unchanged.`,
  );
}

async function renameSession({ chatState, transcript }: CommandContext, title: string): Promise<void> {
  if (chatState.sessionId === undefined)
    transcript.showNotice("No session yet: send a message first.", "yellow");
  else if (title === "") transcript.showNotice("Title missing. Example: /rename the tax question", "yellow");
  else {
    await session(chatState.workspace.store, chatState.sessionId).rename(escapeTerminalLine(title));
    transcript.showNotice(`Renamed this session to "${title}".`);
  }
}

const formats: Readonly<Record<string, ExportFormat>> = { md: "markdown", html: "html", json: "json" };

async function exportChat({ chatState, transcript, io }: CommandContext, file: string): Promise<void> {
  if (chatState.sessionId === undefined) {
    transcript.showNotice("No session yet: send a message first.", "yellow");
    return;
  }
  const name = file || `session-${shortenSessionId(chatState.sessionId)}.md`;
  const format = formats[name.split(".").at(-1)?.toLowerCase() ?? ""];
  if (!format) {
    transcript.showNotice(`"${name}" must end with .md, .html or .json.`, "yellow");
    return;
  }
  const text = await session(chatState.workspace.store, chatState.sessionId).export(format);
  // Never overwrites a file.
  await writeFile(resolve(io.cwd, name), text, { flag: "wx", mode: 0o600 });
  transcript.showNotice(`Exported to ${name}.`);
}

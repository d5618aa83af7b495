import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ExportFormat } from "capstan/sessions";
import { session, sessions } from "capstan/sessions";
import type { Io } from "../io.ts";
import { ago } from "../output/format-age.ts";
import { findSession } from "../sessions/find-session.ts";
import { harmlessLine } from "../terminal/escape-terminal.ts";
import { shortened, widthOf, wrapped } from "../terminal/wrap.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import type { Place } from "./conversation.ts";
import { shortId } from "./format-usage.ts";
import type { Transcript } from "./transcript.ts";
import type { View } from "./view.ts";

/** What commands work on. */
export type Desk = {
  readonly place: Place;
  readonly view: View;
  readonly transcript: Transcript;
  readonly io: Io;
  /** Makes another session the one that is talked in; a new one when left out. */
  open(sessionId: string | undefined): Promise<void>;
  /** Opens the workspace with another model; left out where that cannot be. */
  reopen?(flags: Pick<WorkspaceFlags, "model">): Promise<void>;
  leave(): void;
  /** The sessions that were listed last: numbers stand for them. */
  listed: readonly string[];
};

/** A command that begins with a slash. */
export type SlashCommand = {
  readonly name: string;
  /** What may follow the name. */
  readonly takes?: string;
  readonly about: string;
  /** Needs not wait until a run has ended. */
  readonly anytime?: true;
  run(desk: Desk, argument: string): void | Promise<void>;
};

/** All of them, in the order that help shows. */
export const slashCommands: readonly SlashCommand[] = [
  { name: "help", about: "what there is to type", anytime: true, run: help },
  { name: "model", takes: "[provider/model]", about: "show the model, or take another", run: model },
  { name: "agents", takes: "[name]", about: "list the agents, or talk to another", run: agents },
  { name: "tools", about: "what the agent can use", anytime: true, run: tools },
  { name: "mcp", about: "the MCP servers and their state", anytime: true, run: mcp },
  { name: "sessions", takes: "[words]", about: "list sessions, or find words in them", run: listSessions },
  { name: "resume", takes: "[number or id]", about: "go on with another session", run: resume },
  { name: "fork", about: "go on in a copy of this session", run: fork },
  { name: "new", about: "begin a new session", run: (desk) => desk.open(undefined) },
  { name: "rename", takes: "title", about: "give this session a title", run: rename },
  {
    name: "export",
    takes: "[file]",
    about: "write this session to a .md, .html or .json file",
    run: exportTo,
  },
  {
    name: "reasoning",
    about: "show what the model thought last",
    anytime: true,
    run: ({ transcript }) => transcript.unfoldReasoning(),
  },
  { name: "quit", about: "leave", anytime: true, run: (desk) => desk.leave() },
];

/** The command that a line names; undefined when it is something to say. */
export function commandIn(text: string): SlashCommand | undefined {
  const name = /^\/(\w+)(?:\s|$)/.exec(text)?.[1];
  return slashCommands.find((command) => command.name === name);
}

const narrowest = 20;

/** A heading and rows of two columns. */
function table(view: View, title: string, rows: readonly (readonly [string, string])[]): void {
  const { style } = view;
  const columns = view.columns();
  const room = Math.min(Math.max(...rows.map(([left]) => widthOf(left))), Math.floor(columns * 0.45));
  // Where a second column would be too narrow, it goes below.
  const isNarrow = columns - room - 4 < narrowest;
  const lines = rows.flatMap(([left, right]) => {
    const name = shortened(left, isNarrow ? columns - 2 : room);
    if (isNarrow)
      return [
        `  ${style.cyan(name)}`,
        ...wrapped(right, columns - 4).map((line) => `    ${style.dim(line)}`),
      ];
    const first = `  ${style.cyan(name)}${" ".repeat(Math.max(0, room - widthOf(name)))}  `;
    const words = wrapped(right, columns - room - 4);
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

function help({ view }: Desk): void {
  const rows = slashCommands.map(
    ({ name, takes, about }) => [`/${name}${takes ? ` ${takes}` : ""}`, about] as const,
  );
  table(view, "Commands", rows);
  table(view, "Keys", chatKeys);
}

async function model({ place, transcript, reopen }: Desk, name: string): Promise<void> {
  if (name === "")
    transcript.notice(`${place.workspace.modelName} answers. /model provider/model takes another.`);
  else if (!reopen)
    transcript.notice("The model cannot be changed here: start again with -m provider/model.", "yellow");
  else {
    await reopen({ model: name });
    transcript.notice(`${place.workspace.modelName} answers from now on.`);
  }
}

function agents({ place, view, transcript }: Desk, name: string): void {
  const all = place.workspace.agents;
  if (name === "") {
    const about = (agent: (typeof all)[number]) =>
      agent === place.agent ? "talks with you" : `/agents ${agent.name}`;
    table(
      view,
      "Agents",
      all.map((agent) => [harmlessLine(agent.name), harmlessLine(about(agent))]),
    );
    return;
  }
  const found = all.find((agent) => agent.name === name);
  if (found) place.agent = found;
  if (found) transcript.notice(`You talk with ${found.name} from now on.`);
  else transcript.notice(`There is no agent "${name}". /agents lists them.`, "yellow");
}

function tools({ place, view, transcript }: Desk): void {
  const { agent } = place;
  const own = agent.toolSource?.() ?? [...agent.tools.values()];
  if (own.length === 0) transcript.notice(`${agent.name} has no tools.`);
  else
    table(
      view,
      "Tools",
      own.map(({ name, description }) => [harmlessLine(name), firstSentence(description)]),
    );
}

function firstSentence(text: string): string {
  const line = harmlessLine(text);
  return shortened(/^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line, 160);
}

function mcp({ place, view, transcript }: Desk): void {
  const servers = place.workspace.mcp?.status() ?? [];
  if (servers.length === 0) {
    transcript.notice("No MCP servers. `capstan mcp add` adds one.");
    return;
  }
  table(
    view,
    "MCP servers",
    servers.map(({ name, state, tools: offered, error, problems }) => {
      const trouble = [...(error ? [error.message] : []), ...problems]
        .map((problem) => `; ${problem}`)
        .join("");
      return [harmlessLine(name), harmlessLine(`${state}, ${offered.length} tools${trouble}`)];
    }),
  );
}

const mostListed = 20;

async function listSessions(desk: Desk, words: string): Promise<void> {
  const { place, view, transcript } = desk;
  const stored = sessions(place.workspace.store);
  const found = words === "" ? undefined : await stored.search(words, { limit: mostListed });
  const rows = found
    ? found.map(({ id, title, places }) => ({ id, title, about: places[0]?.excerpt ?? "" }))
    : (await stored.list({ limit: mostListed })).map(({ id, title, updatedAt }) => ({
        id,
        title,
        about: ago(updatedAt, Date.now()),
      }));
  desk.listed = rows.map(({ id }) => id);
  if (rows.length === 0) {
    transcript.notice(words === "" ? "There are no sessions yet." : `Nothing was found for "${words}".`);
    return;
  }
  const here = (id: string) => (id === place.sessionId ? ", this one" : "");
  const wide = Math.max(12, Math.floor(view.columns() * 0.45) - 4);
  table(
    view,
    "Sessions (/resume 1 goes on with the first)",
    rows.map(({ id, title, about }, n) => [
      `${String(n + 1).padStart(2)} ${shortened(harmlessLine(title), wide)}`,
      `${shortId(id)}, ${harmlessLine(about)}${here(id)}`,
    ]),
  );
}

async function resume(desk: Desk, named: string): Promise<void> {
  if (named === "") return listSessions(desk, "");
  const id = desk.listed[Number(named) - 1] ?? (await findSession(desk.place.workspace.store, named));
  await desk.open(id);
}

async function fork(desk: Desk): Promise<void> {
  const { place, transcript } = desk;
  if (place.sessionId === undefined) {
    transcript.notice("Nothing was said yet, so there is nothing to copy.", "yellow");
    return;
  }
  const original = session(place.workspace.store, place.sessionId);
  const copy = await original.fork((await original.facts()).length);
  place.sessionId = copy.id;
  transcript.notice(`You go on in a copy, ${shortId(copy.id)}. The session it was made from stays as it is.`);
}

async function rename({ place, transcript }: Desk, title: string): Promise<void> {
  if (place.sessionId === undefined)
    transcript.notice("Say something first: there is no session yet.", "yellow");
  else if (title === "") transcript.notice("Give a title: /rename the tax question", "yellow");
  else {
    await session(place.workspace.store, place.sessionId).rename(harmlessLine(title));
    transcript.notice(`This session is called "${title}".`);
  }
}

const formats: Readonly<Record<string, ExportFormat>> = { md: "markdown", html: "html", json: "json" };

async function exportTo({ place, transcript, io }: Desk, file: string): Promise<void> {
  if (place.sessionId === undefined) {
    transcript.notice("Say something first: there is no session yet.", "yellow");
    return;
  }
  const name = file || `session-${shortId(place.sessionId)}.md`;
  const format = formats[name.split(".").at(-1)?.toLowerCase() ?? ""];
  if (!format) {
    transcript.notice(`"${name}" must end with .md, .html or .json.`, "yellow");
    return;
  }
  const text = await session(place.workspace.store, place.sessionId).export(format);
  // Never over a file that is there.
  await writeFile(resolve(io.cwd, name), text, { flag: "wx", mode: 0o600 });
  transcript.notice(`Written to ${name}.`);
}

import { session } from "capstan/sessions";
import { errorWords } from "../errors/format-error.ts";
import { strayErrorWords } from "../errors/format-unhandled-error.ts";
import { hearStrayErrors } from "../errors/unhandled-errors.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { unfinishedRun } from "../sessions/find-session.ts";
import { promptHistory } from "../terminal/prompt-history.ts";
import { within } from "../workspace/wait-at-most.ts";
import type { Workspace, WorkspaceFlags } from "../workspace/workspace.ts";
import { type Conversation, conversation, type Place } from "./conversation.ts";
import { showLastExchange } from "./last-exchange.ts";
import { lineQueue } from "./line-queue.ts";
import { liveRows, promptMode } from "./prompt-mode.ts";
import { commandIn, type Desk } from "./slash-commands.ts";
import { statusLines } from "./status-line.ts";
import { transcript } from "./transcript.ts";
import { openView } from "./view.ts";

// So long a run that was stopped may take to end; whoever goes on with the session ends it otherwise.
const patienceMs = 1_000;

/** How a chat begins. */
export type ChatOptions = {
  /** The session to go on with; a new one when left out. */
  readonly session?: string;
  /** What to say first. */
  readonly first?: string;
  /** Opens the workspace anew with another model. The chat closes those it has opened so. */
  reopen?(flags: Pick<WorkspaceFlags, "model">): Promise<Workspace>;
};

/** Talks with a person in a terminal until they leave. Does not close the workspace it was given. */
export async function chat(workspace: Workspace, io: Io, options: ChatOptions = {}): Promise<ExitCode> {
  const place: Place = { workspace, agent: workspace.agent, sessionId: options.session, allowed: new Set() };
  const leaving = Promise.withResolvers<void>();
  const history = await promptHistory(workspace.home);
  const view = openView(io, { onEnd: leaving.resolve });
  const shown = transcript(view);
  const lines = lineQueue();
  const mode = promptMode({
    ...{ view, history, io, unfold: shown.unfold },
    leave: () => void leave(),
    submit: (text) => hear(text, { talk, desk, put: lines.put }),
    stop: () => void talk.stop(),
    isRunning: () => talk.isRunning,
    footer: () => `${place.workspace.modelName} · ${place.agent.name}`,
  });
  const talk = conversation({
    ...{ place, view, transcript: shown, io, lastKeyAt: mode.lastKeyAt },
    onUnheard: (text, wasStopped) => (wasStopped ? mode.putBack(text) : lines.put(text)),
  });
  const desk: Desk = {
    ...{ place, view, transcript: shown, io, listed: [] },
    leave: () => void leave(),
    open: (id) => openSession(desk, talk, id),
    ...(options.reopen && { reopen: (flags) => reopen(desk, flags, { workspace, options }) }),
  };

  async function leave(): Promise<void> {
    await within(talk.stop(), patienceMs);
    leaving.resolve();
  }
  async function talkOn(): Promise<void> {
    await goOnWithSession(desk, talk);
    if (options.first !== undefined) await perform(options.first, desk, talk);
    for (;;) await perform(await lines.next(), desk, talk);
  }

  view.showAbove((columns) => liveRows({ conversation: talk, transcript: shown, view, columns }));
  view.append(statusLines(place, io, view));
  for (const notice of workspace.notices) shown.notice(notice, "yellow");
  view.use(mode);
  const hearNoMore = hearStrayErrors((error) => shown.notice(strayErrorWords(error, io.env), "red"));
  try {
    await Promise.race([talkOn(), leaving.promise]);
    return exitCodes.ok;
  } finally {
    hearNoMore();
    view.close();
    if (place.workspace !== workspace) await place.workspace.close();
  }
}

/** During a run, words steer it; commands that change the place wait. */
function hear(
  text: string,
  { talk, desk, put }: { readonly talk: Conversation; readonly desk: Desk; put(line: string): void },
): void {
  const command = commandIn(text);
  if (!talk.isRunning || (!command && !talk.steer(text))) put(text);
  else if (command && !command.anytime)
    desk.transcript.notice(
      `/${command.name} has to wait for the end of the run. Esc stops the run.`,
      "yellow",
    );
  else if (command) void perform(text, desk, talk);
}

async function perform(text: string, desk: Desk, talk: Conversation): Promise<void> {
  const { transcript: shown, io } = desk;
  const command = commandIn(text);
  try {
    if (command) await command.run(desk, text.slice(command.name.length + 1).trim());
    else if (/^\/\w+$/.test(text)) shown.notice(`There is no command ${text}. /help lists them.`, "yellow");
    else await talk.send(text);
  } catch (error) {
    shown.notice(errorWords(error, io.env), "red");
  }
}

/** Makes a session the one that is talked in. */
async function openSession(desk: Desk, talk: Conversation, id: string | undefined): Promise<void> {
  const { place, view, io } = desk;
  place.sessionId = id;
  place.allowed.clear();
  view.print(statusLines(place, io, view));
  await goOnWithSession(desk, talk);
}

/** Shows what was said last, and goes on with a run that is not over. */
async function goOnWithSession({ place, transcript: shown }: Desk, talk: Conversation): Promise<void> {
  const { sessionId, workspace } = place;
  if (sessionId === undefined) return;
  const facts = await session(workspace.store, sessionId).facts();
  showLastExchange(facts, shown);
  const unfinished = await unfinishedRun(workspace, sessionId);
  if (unfinished) await talk.goOn(unfinished.runId, facts.at(-1)?.seq ?? 0);
}

async function reopen(
  { place }: Desk,
  flags: Pick<WorkspaceFlags, "model">,
  { workspace, options }: { readonly workspace: Workspace; readonly options: ChatOptions },
): Promise<void> {
  const next = await options.reopen?.(flags);
  if (!next) return;
  const last = place.workspace;
  place.workspace = next;
  place.agent = next.agents.find(({ name }) => name === place.agent.name) ?? next.agent;
  if (last !== workspace) await last.close();
}

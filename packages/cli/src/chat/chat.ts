import { session } from "capstan/sessions";
import { formatError } from "../errors/format-error.ts";
import { formatUnhandledError } from "../errors/format-unhandled-error.ts";
import { onUnhandledError } from "../errors/unhandled-errors.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { findUnfinishedRun } from "../sessions/find-session.ts";
import { openPromptHistory } from "../terminal/prompt-history.ts";
import { waitAtMost } from "../workspace/wait-at-most.ts";
import type { Workspace, WorkspaceFlags } from "../workspace/workspace.ts";
import { type ChatState, type Conversation, createConversation } from "./conversation.ts";
import { showLastExchange } from "./last-exchange.ts";
import { createLineQueue } from "./line-queue.ts";
import { createPromptMode, renderLiveRows } from "./prompt-mode.ts";
import { type CommandContext, findCommand } from "./slash-commands.ts";
import { formatStatus } from "./status-line.ts";
import { createTranscript } from "./transcript.ts";
import { openView } from "./view.ts";

// Time for a stopped run to end; otherwise it ends when the session is resumed.
const stopTimeoutMs = 1_000;

/** How to start a chat. */
export type ChatOptions = {
  /** Session to continue; default: a new one. */
  readonly session?: string;
  /** First message. */
  readonly first?: string;
  /** Reopens the workspace with another model. The chat closes the workspaces it opened this way. */
  reopen?(flags: Pick<WorkspaceFlags, "model">): Promise<Workspace>;
};

/** Runs the chat until the user exits. Does not close the given workspace. */
export async function runChat(workspace: Workspace, io: Io, options: ChatOptions = {}): Promise<ExitCode> {
  const chatState: ChatState = {
    workspace,
    agent: workspace.agent,
    sessionId: options.session,
  };
  const leaving = Promise.withResolvers<void>();
  const history = await openPromptHistory(workspace.home);
  const view = openView(io, { onEnd: leaving.resolve });
  const transcript = createTranscript(view);
  const lines = createLineQueue();
  const mode = createPromptMode({
    ...{ view, history, io, showFolded: transcript.showFolded },
    leave: () => void leave(),
    submit: (text) => handleLine(text, { conversation, context, queue: lines.add }),
    stop: () => void conversation.stop(),
    isRunning: () => conversation.isRunning,
    getFooter: () => `${chatState.workspace.modelName} · ${chatState.agent.name}`,
  });
  const conversation = createConversation({
    ...{ chatState, view, transcript, io, lastKeyAt: mode.lastKeyAt },
    onUndelivered: (text, wasStopped) => (wasStopped ? mode.restoreText(text) : lines.add(text)),
  });
  const context: CommandContext = {
    ...{ chatState, view, transcript, io, listedSessions: [] },
    leave: () => void leave(),
    open: (id) => switchSession(context, conversation, id),
    retry: () => conversation.retry(),
    compact: () => conversation.compact(),
    ...(options.reopen && { reopen: (flags) => reopenWorkspace(context, flags, { workspace, options }) }),
  };

  async function leave(): Promise<void> {
    await waitAtMost(conversation.stop(), stopTimeoutMs);
    leaving.resolve();
  }
  async function processLines(): Promise<void> {
    await continueSession(context, conversation);
    if (options.first !== undefined) await performLine(options.first, context, conversation);
    for (;;) await performLine(await lines.take(), context, conversation);
  }

  view.showAbove((columns) => renderLiveRows({ conversation, transcript, view, columns }));
  view.append(formatStatus(chatState, io, view));
  for (const notice of workspace.notices) transcript.showNotice(notice, "yellow");
  view.pushMode(mode);
  const stopListening = onUnhandledError((error) =>
    transcript.showNotice(formatUnhandledError(error, io.env), "red"),
  );
  try {
    await Promise.race([processLines(), leaving.promise]);
    return exitCodes.ok;
  } finally {
    stopListening();
    view.close();
    if (chatState.workspace !== workspace) await chatState.workspace.close();
  }
}

type LineContext = {
  readonly conversation: Conversation;
  readonly context: CommandContext;
  queue(line: string): void;
};

/**
 * During a run, text steers it, unless the policy `onBusy` of the agent says otherwise; commands that change the chat are
 * rejected.
 */
function handleLine(text: string, { conversation, context, queue }: LineContext): void {
  const command = findCommand(text);
  if (!conversation.isRunning) queue(text);
  else if (!command) handleMessage(text, { conversation, context, queue });
  else if (command && !command.worksDuringRun)
    context.transcript.showNotice(
      `/${command.name} is not available during a run. Press Esc to stop it.`,
      "yellow",
    );
  else if (command) void performLine(text, context, conversation);
}

/** Does what the policy of the agent says about a message during a run. Without one, the message steers the run. */
function handleMessage(text: string, { conversation, context, queue }: LineContext): void {
  const { onBusy = "steer" } = context.chatState.agent.policy ?? {};
  if (onBusy === "reject")
    context.transcript.showNotice("The run has not ended. Wait for it, or press Esc to stop it.", "yellow");
  else if (onBusy !== "steer" || !conversation.steer(text)) queue(text);
  if (onBusy === "interrupt") void conversation.stop();
}

async function performLine(text: string, context: CommandContext, conversation: Conversation): Promise<void> {
  const { transcript, io } = context;
  const command = findCommand(text);
  try {
    if (command) await command.run(context, text.slice(command.name.length + 1).trim());
    else if (/^\/\w+$/.test(text))
      transcript.showNotice(`Unknown command ${text}. /help lists all commands.`, "yellow");
    else await conversation.send(text);
  } catch (error) {
    transcript.showNotice(formatError(error, io.env), "red");
  }
}

/** Switches to a session. */
async function switchSession(
  context: CommandContext,
  conversation: Conversation,
  id: string | undefined,
): Promise<void> {
  const { chatState, view, io } = context;
  chatState.sessionId = id;
  view.print(formatStatus(chatState, io, view));
  await continueSession(context, conversation);
}

/** Shows the last exchange and resumes an unfinished run. */
async function continueSession(
  { chatState, transcript }: CommandContext,
  conversation: Conversation,
): Promise<void> {
  const { sessionId, workspace } = chatState;
  if (sessionId === undefined) return;
  const facts = await session(workspace.store, sessionId).facts();
  showLastExchange(facts, transcript);
  const unfinished = await findUnfinishedRun(workspace, sessionId);
  if (unfinished) await conversation.resumeRun(unfinished.runId, facts.at(-1)?.seq ?? 0);
}

async function reopenWorkspace(
  { chatState }: CommandContext,
  flags: Pick<WorkspaceFlags, "model">,
  { workspace, options }: { readonly workspace: Workspace; readonly options: ChatOptions },
): Promise<void> {
  const next = await options.reopen?.(flags);
  if (!next) return;
  const last = chatState.workspace;
  chatState.workspace = next;
  chatState.agent = next.agents.find(({ name }) => name === chatState.agent.name) ?? next.agent;
  if (last !== workspace) await last.close();
}

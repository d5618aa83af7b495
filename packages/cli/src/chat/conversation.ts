import { type Agent, AgentError, type Effort, isFact, type Result, type Run, type RunOptions } from "capstan";
import { formatError, isAgentError } from "../errors/format-error.ts";
import type { Io } from "../io.ts";
import { includeFiles } from "../print/include-files.ts";
import { retryRun } from "../print/resume-run.ts";
import { isWaitingForProvider, waitForWake } from "../sessions/wait-for-wake.ts";
import { wrapText } from "../terminal/wrap.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { askForDecisions, sendDecisions } from "./decisions.ts";
import type { PreviewCall } from "./edit-arguments.ts";
import { formatUsageLine } from "./format-usage.ts";
import type { Transcript } from "./transcript.ts";
import type { View } from "./view.ts";

/** State that can change during a chat. */
export type ChatState = {
  workspace: Workspace;
  agent: Agent;
  /** Undefined until the first message. */
  sessionId?: string | undefined;
  /** Chosen with `/effort`. */
  effort?: Effort | undefined;
};

/** The active run. */
export type ActiveRun = {
  run: Run;
  /** Position of the last fact shown. */
  lastSeq: number;
  /** Steering messages that are not delivered yet. */
  queued: string[];
  isAsking: boolean;
  readonly startedAt: number;
  readonly stopped: AbortController;
};

/** The runs of a chat, one at a time. */
export interface Conversation {
  /** Undefined when no run is active. */
  readonly activeRun: ActiveRun | undefined;
  readonly isRunning: boolean;
  /** Sends a message; resolves when its run has ended. */
  send(text: string): Promise<void>;
  /** Resumes a stored run; shows facts after position `after`. */
  resumeRun(runId: string, after: number): Promise<void>;
  /** Continues the session's failed run. */
  retry(): Promise<void>;
  /** Summarizes the history of the session, and shows how many tokens that saved. */
  compact(): Promise<void>;
  /** Steers the run; false when no run can receive the message. */
  steer(text: string): boolean;
  /** Cancels the run; resolves when its end is stored. */
  stop(): Promise<void>;
}

export type ConversationOptions = {
  readonly chatState: ChatState;
  readonly view: View;
  readonly transcript: Transcript;
  readonly io: Io;
  lastKeyAt(): number;
  /** Called with messages that the run did not receive before it ended. */
  onUndelivered(text: string, wasStopped: boolean): void;
};

/** Wraps the run, which is thenable and would otherwise be awaited. */
type StartRun = () => Promise<{ readonly run: Run; readonly lastSeq: number }>;

export function createConversation(options: ConversationOptions): Conversation {
  const { chatState, view, transcript, io } = options;
  let activeRun: ActiveRun | undefined;
  /** True already while the attached files are read, before there is a run. */
  let isRunning = false;
  let currentRun = Promise.resolve();

  function trackRun(start: StartRun): Promise<void> {
    currentRun = runToEnd(start);
    return currentRun;
  }
  async function runToEnd(start: StartRun): Promise<void> {
    isRunning = true;
    view.animate(true);
    const startedAt = performance.now();
    try {
      activeRun = {
        ...(await start()),
        queued: [],
        isAsking: false,
        startedAt,
        stopped: new AbortController(),
      };
      const result = await followRun(activeRun, options);
      finishRun();
      printUsage(view, result, performance.now() - startedAt);
    } catch (error) {
      transcript.finishRun();
      transcript.showNotice(formatError(error, io.env), "red");
    } finally {
      finishRun();
    }
  }
  function finishRun(): void {
    const last = activeRun;
    activeRun = undefined;
    isRunning = false;
    view.animate(false);
    view.redraw();
    if (last && last.queued.length > 0)
      options.onUndelivered(last.queued.join("\n"), last.stopped.signal.aborted);
  }

  return {
    get activeRun() {
      return activeRun;
    },
    get isRunning() {
      return isRunning;
    },
    async send(text) {
      transcript.showUserMessage(text);
      await trackRun(async () => {
        const { input } = await includeFiles({ words: text }, io.cwd);
        const { workspace, agent } = chatState;
        return { run: workspace.engine.run(agent, input, getRunOptions(chatState)), lastSeq: 0 };
      });
    },
    resumeRun: (runId, after) =>
      trackRun(async () => ({ run: chatState.workspace.engine.open(runId), lastSeq: after })),
    retry: () => trackRun(() => retryLastRun(chatState)),
    compact: () => trackRun(async () => startCompaction(chatState)),
    steer(text) {
      if (!activeRun || activeRun.stopped.signal.aborted) return false;
      try {
        activeRun.run.steer(text);
      } catch {
        return false; // the run has just ended
      }
      activeRun.queued = [...activeRun.queued, text];
      return true;
    },
    async stop() {
      if (!activeRun) return;
      if (!activeRun.stopped.signal.aborted) {
        activeRun.stopped.abort();
        activeRun.run.cancel("The user stopped it.");
      }
      await currentRun;
    },
  };
}

function getRunOptions({ sessionId, effort }: ChatState): RunOptions {
  return {
    ...(sessionId !== undefined && { session: sessionId }),
    ...(effort !== undefined && { settings: { effort } }),
  };
}

async function retryLastRun({ workspace, sessionId }: ChatState): ReturnType<StartRun> {
  if (sessionId === undefined)
    throw new AgentError("not_retryable", "Nothing to retry: this session is empty.");
  const { facts: lastSeq = 0 } = (await workspace.store.getSession(sessionId)) ?? {};
  return { ...(await retryRun(workspace, sessionId)), lastSeq };
}

function startCompaction({ workspace, agent, sessionId }: ChatState): Awaited<ReturnType<StartRun>> {
  if (sessionId === undefined)
    throw new AgentError("invalid_input", "Nothing to compact: this session is empty.");
  return { run: workspace.engine.run(agent, [], { session: sessionId, compact: true }), lastSeq: 0 };
}

function printUsage(view: View, { usage, context }: Result, ms: number): void {
  if (usage.inputTokens === 0) return;
  const line = formatUsageLine(usage, ms, context);
  view.print(wrapText(line, view.getColumns() - 2).map((part) => view.style.dim(`  ${part}`)));
}

/** Follows a run to its end, across all its waits. */
async function followRun(activeRun: ActiveRun, options: ConversationOptions): Promise<Result> {
  const { chatState, transcript } = options;
  for (;;) {
    try {
      await showEvents(activeRun, options);
      const result = await activeRun.run;
      if (result.status !== "waiting") return result;
      transcript.finishMessage();
      if (!isWaitingForProvider(result)) {
        await decideCalls(activeRun, result, options);
        continue;
      }
      const position = { runId: result.runId, after: activeRun.lastSeq };
      await waitForWake(chatState.workspace, position);
    } catch (error) {
      // After an invalid answer, the run still waits. After a late approval, it continues without the call.
      const isRefused = isAgentError(error) && ["invalid_input", "approval_expired"].includes(error.code);
      if (!isRefused || activeRun.lastSeq === 0) throw error;
      transcript.showNotice(error.message, "red");
    }
    activeRun.run = chatState.workspace.engine.open(activeRun.run.id);
  }
}

async function showEvents(
  activeRun: ActiveRun,
  { chatState, transcript }: ConversationOptions,
): Promise<void> {
  for await (const event of activeRun.run) {
    if (isFact(event) && event.seq <= activeRun.lastSeq) continue;
    if (isFact(event)) activeRun.lastSeq = event.seq;
    chatState.sessionId = event.sessionId;
    if (event.type === "steered") activeRun.queued = activeRun.queued.slice(1);
    transcript.handleEvent(event);
  }
}

async function decideCalls(
  activeRun: ActiveRun,
  { pending, sessionId }: Result,
  { chatState, view, lastKeyAt }: ConversationOptions,
): Promise<void> {
  if (activeRun.stopped.signal.aborted) return;
  activeRun.isAsking = true;
  try {
    const previewCall: PreviewCall = (callId, input) =>
      chatState.workspace.engine.previewCall(activeRun.run.id, callId, { input });
    const decisions = await askForDecisions(pending, { view, lastKeyAt, previewCall });
    const target = { run: activeRun.run, store: chatState.workspace.store, sessionId };
    if (await sendDecisions(target, pending, decisions)) activeRun.stopped.abort();
  } finally {
    activeRun.isAsking = false;
  }
}

import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/client";
import type { Answer, Json, Question } from "capstan";
import type { RequestHandler, ServerRequest } from "./request-handler.ts";

export type ServerResult = CallToolResult | InputRequiredResult;

/** A running call to a server of a 2025 revision. It stays open while the user answers a question of the server. */
export type OpenCall = {
  /** Resolves with the result or the server's next question. */
  next(): Promise<{ readonly result: ServerResult } | { readonly question: Question }>;
  /** Answers the question returned by `next`. */
  answer(answer: Answer): void;
  abort(reason: unknown): void;
};

/** The running calls of one server. */
export interface OpenCalls {
  get(key: string): OpenCall | undefined;
  start(key: string, work: (signal: AbortSignal) => Promise<ServerResult>): OpenCall;
  end(key: string): void;
  /**
   * Handles a request of the server. Requests do not name the call they belong to: within one run, the oldest call
   * without a pending question gets it; with calls of several runs, the request is declined.
   */
  handleRequest(request: ServerRequest, signal: AbortSignal): Promise<Json>;
}

type PendingQuestion = { readonly question: Question; settle(answer: Answer): void };
type TrackedCall = OpenCall & { readonly questions: PendingQuestion[]; notify(): void };

/** After this time the question is declined and the call aborted. */
const questionTimeoutMs = 30 * 60_000;

export function createOpenCalls(requestHandler: RequestHandler): OpenCalls {
  const calls = new Map<string, TrackedCall>();
  return {
    get: (key) => calls.get(key),
    start(key, work) {
      const call = createTrackedCall(work);
      calls.set(key, call);
      return call;
    },
    end: (key) => calls.delete(key),
    async handleRequest(request, signal) {
      const reply = requestHandler.handle(request, signal);
      if ("result" in reply) return reply.result;
      const call =
        [...calls.values()].find(({ questions }) => questions.length === 0) ?? [...calls.values()][0];
      // Without a call there is no user to ask; with calls of several runs it could be the wrong user.
      if (!call || getRunIds(calls.keys()).size > 1) return reply.answer({ approved: false });
      const answer = await askInCall(call, reply.question);
      return reply.answer(answer);
    },
  };
}

function getRunIds(keys: Iterable<string>): Set<string> {
  return new Set([...keys].map((key) => key.slice(0, key.indexOf("/"))));
}

function askInCall(call: TrackedCall, question: Question): Promise<Answer> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve({ approved: false });
      call.abort(new Error("The server's question was not answered in time."));
    }, questionTimeoutMs);
    timer.unref();
    call.questions.push({
      question,
      settle(answer) {
        clearTimeout(timer);
        resolve(answer);
      },
    });
    call.notify();
  });
}

function createTrackedCall(work: (signal: AbortSignal) => Promise<ServerResult>): TrackedCall {
  const controller = new AbortController();
  const questions: PendingQuestion[] = [];
  let questionAdded = Promise.withResolvers<void>();
  const result = work(controller.signal);
  result.catch(() => undefined); // `next` reports it
  return {
    questions,
    notify() {
      questionAdded.resolve();
      questionAdded = Promise.withResolvers();
    },
    async next() {
      for (;;) {
        const [first] = questions;
        if (first) return { question: first.question };
        const outcome = await Promise.race([result, questionAdded.promise]);
        if (outcome) return { result: outcome };
      }
    },
    answer: (answer) => questions.shift()?.settle(answer),
    abort: (reason) => controller.abort(reason),
  };
}

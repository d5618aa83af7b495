import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/client";
import type { Answer, Json, Question } from "capstan";
import type { Desk, ServerRequest } from "./desk.ts";

export type ServerResult = CallToolResult | InputRequiredResult;

/** A call that a server of the 2025 era is at work on. It stays open while a person answers the server's question. */
export type OpenCall = {
  /** The result, or the next question of the server. */
  next(): Promise<{ readonly result: ServerResult } | { readonly question: Question }>;
  /** Answers the question that `next` gave. */
  answer(answer: Answer): void;
  abort(reason: unknown): void;
};

/** The calls under way at one server. */
export interface OpenCalls {
  get(key: string): OpenCall | undefined;
  begin(key: string, work: (signal: AbortSignal) => Promise<ServerResult>): OpenCall;
  end(key: string): void;
  /**
   * A request of the server. It does not say to which call it belongs: of one run, the oldest that asks nothing yet gets
   * it; between several runs nobody is asked.
   */
  hear(request: ServerRequest, signal: AbortSignal): Promise<Json>;
}

type Asked = { readonly question: Question; settle(answer: Answer): void };
type Kept = OpenCall & { readonly asked: Asked[]; ring(): void };

/** Nobody answers after so long: the server is told so and the call ends. */
const longestQuestionMs = 30 * 60_000;

export function openCalls(desk: Desk): OpenCalls {
  const calls = new Map<string, Kept>();
  return {
    get: (key) => calls.get(key),
    begin(key, work) {
      const call = openCall(work);
      calls.set(key, call);
      return call;
    },
    end: (key) => calls.delete(key),
    async hear(request, signal) {
      const reply = desk.reply(request, signal);
      if ("result" in reply) return reply.result;
      const call = [...calls.values()].find(({ asked }) => asked.length === 0) ?? [...calls.values()][0];
      // There is nobody to ask outside a call; and between the calls of several runs it could be the wrong person.
      if (!call || runsOf(calls.keys()).size > 1) return reply.answer({ approved: false });
      const answer = await asking(call, reply.question);
      return reply.answer(answer);
    },
  };
}

function runsOf(keys: Iterable<string>): Set<string> {
  return new Set([...keys].map((key) => key.slice(0, key.indexOf("/"))));
}

function asking(call: Kept, question: Question): Promise<Answer> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve({ approved: false });
      call.abort(new Error("Nobody answered the server's question in time."));
    }, longestQuestionMs);
    timer.unref();
    call.asked.push({
      question,
      settle(answer) {
        clearTimeout(timer);
        resolve(answer);
      },
    });
    call.ring();
  });
}

function openCall(work: (signal: AbortSignal) => Promise<ServerResult>): Kept {
  const controller = new AbortController();
  const asked: Asked[] = [];
  let bell = Promise.withResolvers<void>();
  const result = work(controller.signal);
  result.catch(() => undefined); // whoever waits hears of it
  return {
    asked,
    ring() {
      bell.resolve();
      bell = Promise.withResolvers();
    },
    async next() {
      for (;;) {
        const [first] = asked;
        if (first) return { question: first.question };
        const ended = await Promise.race([result, bell.promise]);
        if (ended) return { result: ended };
      }
    },
    answer: (answer) => asked.shift()?.settle(answer),
    abort: (reason) => controller.abort(reason),
  };
}

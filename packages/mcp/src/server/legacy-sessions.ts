import { randomBytes } from "node:crypto";
import {
  isInitializeRequest,
  type McpServer,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { createErrorResponse } from "./error-response.ts";
import { createEventStore } from "./event-store.ts";

/** Limits for sessions of the 2025 revisions. */
export type SessionLimits = {
  /** At the limit, the session that has been idle longest is closed. */
  readonly maxSessions?: number;
  readonly sessionIdleMs?: number;
};

type LegacySessionOptions = SessionLimits & {
  readonly onError: (error: Error) => void;
  /** Servers with a connected client. */
  readonly connected: Set<McpServer | Server>;
};

type IncomingCall = { readonly body: unknown; readonly user: string | undefined };

type Session = {
  readonly id: string;
  readonly user: string | undefined;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Responses that are still being sent. */
  openResponses: number;
  timer?: NodeJS.Timeout;
  close(): Promise<void>;
};

export type LegacySessions = {
  fetch(request: Request, asked: IncomingCall): Promise<Response>;
  close(): Promise<void>;
};

/**
 * Serves the 2025 revisions over HTTP: one session per client, with its own server and transport. A session id has 256
 * random bits and is valid only for the user who started the session; for other users it does not exist.
 */
export function createLegacySessions(
  factory: (caller: {
    readonly user: string | undefined;
  }) => McpServer | Server | Promise<McpServer | Server>,
  { maxSessions = 1000, sessionIdleMs = 30 * 60_000, onError, connected }: LegacySessionOptions,
): LegacySessions {
  /** In order of last use. */
  const sessions = new Map<string, Session>();
  let startingCount = 0;

  async function createSession(user: string | undefined): Promise<Session> {
    const id = randomBytes(32).toString("base64url");
    const server = await factory({ user });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: createEventStore(),
      retryInterval: 1_000,
    });
    transport.onclose = () => {
      clearTimeout(session.timer);
      sessions.delete(id);
      connected.delete(server);
    };
    const session: Session = { id, user, transport, openResponses: 0, close: () => server.close() };
    // The SDK keeps an existing `onclose` and calls it too.
    await server.connect(transport);
    connected.add(server);
    sessions.set(id, session);
    return session;
  }

  function evictIdleSession(): boolean {
    if (sessions.size + startingCount < maxSessions) return true;
    const idle = [...sessions.values()].find(({ openResponses }) => openResponses === 0);
    if (!idle) return false;
    sessions.delete(idle.id);
    void idle.close().catch(onError);
    return true;
  }

  function releaseResponse(session: Session): void {
    session.openResponses -= 1;
    if (session.openResponses > 0 || !sessions.has(session.id)) return;
    session.timer = setTimeout(() => void session.close().catch(onError), sessionIdleMs).unref();
  }

  async function handleRequest(session: Session, request: Request, body: unknown): Promise<Response> {
    clearTimeout(session.timer);
    session.openResponses += 1;
    if (sessions.delete(session.id)) sessions.set(session.id, session);
    const options = body === undefined ? {} : { parsedBody: body };
    let response: Response;
    try {
      response = await session.transport.handleRequest(request, options);
    } catch (error) {
      releaseResponse(session);
      throw error;
    }
    return withEndCallback(response, () => releaseResponse(session));
  }

  async function fetch(request: Request, { body, user }: IncomingCall): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id !== null) {
      const session = sessions.get(id);
      return session && session.user === user
        ? handleRequest(session, request, body)
        : createNotFoundResponse();
    }
    if (!isInitializeRequest(body)) return createMissingIdResponse();
    if (!evictIdleSession()) return createFullResponse();
    startingCount += 1;
    const session = await createSession(user).finally(() => {
      startingCount -= 1;
    });
    const response = await handleRequest(session, request, body);
    // A session whose initialization failed has no client.
    if (!response.ok) await session.close();
    return response;
  }

  return {
    fetch,
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}

const createNotFoundResponse = () =>
  createErrorResponse(404, { code: -32_001, name: "session_not_found", message: "Session not found" });

const createMissingIdResponse = () =>
  createErrorResponse(400, {
    code: -32_000,
    name: "session_id_required",
    message: "Bad Request: Mcp-Session-Id header is required: send `initialize` first.",
  });

const createFullResponse = () =>
  createErrorResponse(503, {
    code: -32_000,
    name: "too_many_sessions",
    message: "All sessions are in use: try again later.",
  });

/** Calls `done` when the response has been sent or the client has stopped reading. */
function withEndCallback(response: Response, done: () => void): Response {
  if (!response.body) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  let isCancelled = false;
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done: isDone, value } = await reader.read();
      if (!isDone) return controller.enqueue(value);
      if (isCancelled) return;
      done();
      controller.close();
    },
    cancel(reason) {
      isCancelled = true;
      done();
      return reader.cancel(reason);
    },
  });
  return new Response(watched, response);
}

import { randomBytes } from "node:crypto";
import {
  isInitializeRequest,
  type McpServer,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { refusal } from "./admission.ts";
import { boundedEvents } from "./bounded-events.ts";

/** How many sessions of the 2025 era there may be, and for how long one may rest. */
export type SessionLimits = {
  /** When it is reached, the session that has rested longest is closed. */
  readonly maxSessions?: number;
  readonly sessionIdleMs?: number;
};

type Options = SessionLimits & {
  readonly onError: (error: Error) => void;
  /** Where servers are kept as long as they have a client. */
  readonly connected: Set<McpServer | Server>;
};

type Asked = { readonly body: unknown; readonly user: string | undefined };

type Session = {
  readonly id: string;
  readonly user: string | undefined;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Answers that are still being sent. */
  open: number;
  timer?: NodeJS.Timeout;
  close(): Promise<void>;
};

export type LegacySessions = {
  fetch(request: Request, asked: Asked): Promise<Response>;
  close(): Promise<void>;
};

/**
 * The 2025 era over HTTP: a session per client, each with a server and a transport of its own. An id is 256 random
 * bits and opens the session only for the user who began it; for everybody else it does not exist.
 */
export function legacySessions(
  factory: (caller: {
    readonly user: string | undefined;
  }) => McpServer | Server | Promise<McpServer | Server>,
  { maxSessions = 1000, sessionIdleMs = 30 * 60_000, onError, connected }: Options,
): LegacySessions {
  /** In the order of their last use. */
  const sessions = new Map<string, Session>();
  let beginning = 0;

  async function begin(user: string | undefined): Promise<Session> {
    const id = randomBytes(32).toString("base64url");
    const server = await factory({ user });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: boundedEvents(),
      retryInterval: 1_000,
    });
    transport.onclose = () => {
      clearTimeout(session.timer);
      sessions.delete(id);
      connected.delete(server);
    };
    const session: Session = { id, user, transport, open: 0, close: () => server.close() };
    // The protocol keeps the `onclose` it finds and calls it too.
    await server.connect(transport);
    connected.add(server);
    sessions.set(id, session);
    return session;
  }

  function makeRoom(): boolean {
    if (sessions.size + beginning < maxSessions) return true;
    const resting = [...sessions.values()].find(({ open }) => open === 0);
    if (!resting) return false;
    sessions.delete(resting.id);
    void resting.close().catch(onError);
    return true;
  }

  function rest(session: Session): void {
    session.open -= 1;
    if (session.open > 0 || !sessions.has(session.id)) return;
    session.timer = setTimeout(() => void session.close().catch(onError), sessionIdleMs).unref();
  }

  async function answer(session: Session, request: Request, body: unknown): Promise<Response> {
    clearTimeout(session.timer);
    session.open += 1;
    if (sessions.delete(session.id)) sessions.set(session.id, session);
    let response: Response;
    try {
      response = await session.transport.handleRequest(
        request,
        body === undefined ? {} : { parsedBody: body },
      );
    } catch (error) {
      rest(session);
      throw error;
    }
    return whenSent(response, () => rest(session));
  }

  async function fetch(request: Request, { body, user }: Asked): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id !== null) {
      const session = sessions.get(id);
      return session && session.user === user ? answer(session, request, body) : notFound();
    }
    if (!isInitializeRequest(body)) return idMissing();
    if (!makeRoom()) return full();
    beginning += 1;
    const session = await begin(user).finally(() => {
      beginning -= 1;
    });
    const response = await answer(session, request, body);
    // A session whose opening was refused has no client that could use it.
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

const notFound = () =>
  refusal(404, { code: -32_001, name: "session_not_found", message: "Session not found" });

const idMissing = () =>
  refusal(400, {
    code: -32_000,
    name: "session_id_required",
    message: "Bad Request: Mcp-Session-Id header is required: send `initialize` first.",
  });

const full = () =>
  refusal(503, {
    code: -32_000,
    name: "too_many_sessions",
    message: "Every session this server can have is in use: try again later.",
  });

/** The same answer, with a call when the last of it is sent or nobody reads it any more. */
function whenSent(response: Response, done: () => void): Response {
  if (!response.body) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  let isCancelled = false;
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done: isOver, value } = await reader.read();
      if (!isOver) return controller.enqueue(value);
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

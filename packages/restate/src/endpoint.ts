import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import {
  createEndpointHandler,
  handlers,
  type ObjectContext,
  type ObjectHandlerOpts,
  object,
  TerminalError,
} from "@restatedev/restate-sdk";
import { AgentError } from "capstan";

export type ListenOptions = {
  /** Default: a free port. */
  readonly port?: number;
  /** Default: `127.0.0.1`. Another address needs `identityKeys`, or `allowUnsigned`. */
  readonly host?: string;
  /** Public keys (`publickeyv1_…`) of the Restate servers that may call this worker. Others are refused. */
  readonly identityKeys?: readonly string[];
  /** Accept unsigned requests beyond loopback: only where nothing but Restate can reach the port. */
  readonly allowUnsigned?: boolean;
};

/** The HTTP/2 endpoint of a worker, through which Restate calls it. */
export type Endpoint = {
  readonly port: number;
  /** The address to register, if Restate runs on the same machine. */
  readonly url: string;
};

export type WorkerSettings = {
  readonly maxSegmentMs: number;
  readonly maxRetryMs: number;
};

type ExecuteSegment = (run: { readonly runId: string }) => Promise<void>;

export type Worker = {
  listen(options?: ListenOptions): Promise<Endpoint>;
  /** Takes no more invocations. Resolves when the current ones are answered. */
  close(): Promise<void>;
};

/** Restate keeps no journal of a finished segment, because the facts are in the store. */
const journalRetentionMs = 0;
/** For how long a request that Restate has executed is recognized when it is repeated. */
const idempotencyRetentionMs = 60_000;
const firstRetryMs = 100;

/** Creates the worker side of the engine: a virtual object whose key is a session. */
export function createWorker(
  service: string,
  settings: WorkerSettings,
  executeSegment: ExecuteSegment,
): Worker {
  const servers: Http2Server[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const handler = handlers.object.exclusive(
    toHandlerOptions(settings),
    async (_: ObjectContext, input: unknown) => {
      try {
        await executeSegment(parseInput(input));
      } catch (error) {
        throw isDeletedRun(error) ? new TerminalError(error.message) : error;
      }
    },
  );
  const definition = object({ name: service, handlers: { start: handler, wake: handler } });

  async function listen(options: ListenOptions = {}): Promise<Endpoint> {
    const { port = 0, host = "127.0.0.1", identityKeys } = options;
    assertSigned(host, options);
    const server = createServer(
      createEndpointHandler({
        services: [definition],
        ...(identityKeys && { identityKeys: [...identityKeys] }),
        logger: ignoreLog,
      }),
    );
    server.on("session", (session) => {
      sessions.add(session);
      session.once("close", () => sessions.delete(session));
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    servers.push(server);
    const address = server.address();
    const actualPort = typeof address === "object" && address ? address.port : port;
    return { port: actualPort, url: `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}` };
  }

  async function close(): Promise<void> {
    const closed = servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve)));
    // Node before 24 leaves connections open. Restate sends nothing more on them; what they carry is answered first.
    for (const session of sessions) session.close();
    await Promise.all(closed);
  }
  return { listen, close };
}

function toHandlerOptions({ maxSegmentMs, maxRetryMs }: WorkerSettings): ObjectHandlerOpts<unknown, void> {
  return {
    // A segment writes nothing to Restate's journal, so that Restate would take it for stalled after a minute.
    inactivityTimeout: maxSegmentMs,
    // A segment cannot suspend on request.
    abortTimeout: 0,
    journalRetention: journalRetentionMs,
    idempotencyRetention: idempotencyRetentionMs,
    retryPolicy: {
      initialInterval: firstRetryMs,
      exponentiationFactor: 2,
      maxInterval: maxRetryMs,
      // The server's default pauses an invocation after 70 attempts, and its session waits until an operator resumes it.
      maxAttempts: Number.MAX_SAFE_INTEGER,
    },
  };
}

function parseInput(input: unknown): { readonly runId: string } {
  if (typeof input === "object" && input !== null && "runId" in input && typeof input.runId === "string")
    return { runId: input.runId };
  throw new TerminalError('Expected {"runId": "…"}. Call this service through the engine only.', {
    errorCode: 400,
  });
}

/** No later attempt can succeed. */
function isDeletedRun(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "unknown_run";
}

const loopbackHosts: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

function assertSigned(host: string, { identityKeys = [], allowUnsigned }: ListenOptions): void {
  if (loopbackHosts.has(host) || identityKeys.length > 0 || allowUnsigned) return;
  const message = `The worker would take requests from anyone who reaches ${host}. Pass \`identityKeys\`, the public keys of your Restate servers, or \`allowUnsigned: true\` if only Restate can reach it.`;
  throw new AgentError("invalid_definition", message);
}

/** The SDK logs every attempt. What fails is in Restate's own log and tables, with the reason. */
const ignoreLog = () => undefined;

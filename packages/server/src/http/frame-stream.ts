export type FrameStreamOptions = {
  readonly frames: AsyncGenerator<string, void, undefined>;
  /**
   * Aborted when the client has left, which ends the stream. If it leaves before the response, the HTTP server neither
   * reads nor cancels the body.
   */
  readonly clientSignal: AbortSignal;
  readonly headers?: Record<string, string>;
  readonly heartbeatMs?: number;
  /** Sent while the stream is idle. Defaults to a comment, which every reader ignores. */
  readonly heartbeat?: string;
  /** Called when the client disconnects before the end, after `onClose`. */
  onDisconnect?(): void;
  /** Called exactly once, however the stream ends. */
  onClose?(): void;
};

const defaultHeartbeatMs = 15_000;
const encoder = new TextEncoder();

/** Streams frames as `text/event-stream`. Heartbeats keep an idle connection open. */
export function streamFrames({
  frames,
  clientSignal,
  headers,
  onDisconnect,
  onClose,
  ...options
}: FrameStreamOptions): Response {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  let controller: ReadableStreamDefaultController<Uint8Array>;
  function dispose(): void {
    isOver = true;
    clientSignal.removeEventListener("abort", leave);
    clearInterval(timer);
    onClose?.();
  }
  async function disconnect(): Promise<void> {
    dispose();
    onDisconnect?.();
    await frames.return();
  }
  function leave(): void {
    disconnect().catch(() => undefined); // nobody reads why
    controller.close();
  }

  const heartbeat = encoder.encode(options.heartbeat ?? ": still here\n\n");
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(heartbeat);
      }, options.heartbeatMs ?? defaultHeartbeatMs);
      timer.unref();
      clientSignal.addEventListener("abort", leave);
      if (clientSignal.aborted) leave();
    },
    async pull() {
      try {
        const { done, value } = await frames.next();
        if (isOver) return;
        if (!done) return controller.enqueue(encoder.encode(value));
        dispose();
        controller.close();
      } catch (thrown) {
        if (isOver) return;
        dispose();
        controller.error(thrown);
      }
    },
    cancel: disconnect,
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform", // compression would hold events back
      "x-accel-buffering": "no",
      ...headers,
    },
  });
}

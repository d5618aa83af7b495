/** What is written to a client that reads, frame by frame. */
export type FrameStreamOptions = {
  readonly frames: AsyncGenerator<string, void, undefined>;
  readonly headers?: Record<string, string>;
  readonly heartbeatMs?: number;
  /** The client has gone before the end. */
  onGone?(): void;
  /** Called once, however it ends. */
  onClose?(): void;
};

const heartbeatMs = 15_000;
const encoder = new TextEncoder();

/** An answer as `text/event-stream`. A comment keeps the connection open while nothing is said. */
export function frameStream({ frames, headers, onGone, onClose, ...options }: FrameStreamOptions): Response {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  function end(): void {
    isOver = true;
    clearInterval(timer);
    onClose?.();
  }

  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": still here\n\n"));
      }, options.heartbeatMs ?? heartbeatMs);
      timer.unref();
    },
    async pull(controller) {
      try {
        const { done, value } = await frames.next();
        if (isOver) return;
        if (!done) return controller.enqueue(encoder.encode(value));
        end();
        controller.close();
      } catch (thrown) {
        if (isOver) return;
        end();
        controller.error(thrown);
      }
    },
    async cancel() {
      end();
      onGone?.();
      await frames.return();
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      ...headers,
    },
  });
}

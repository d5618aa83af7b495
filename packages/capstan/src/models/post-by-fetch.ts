import type { Post } from "./post.ts";

export const postByFetch =
  (fetch: typeof globalThis.fetch): Post =>
  async ({ url, ...init }) => {
    const { status, headers, body } = await fetch(url, { method: "POST", redirect: "error", ...init });
    return {
      status,
      header: (name) => headers.get(name) ?? undefined,
      body: bytesOf(body),
    };
  };

/** Browsers cannot iterate a stream; and whoever stops in the middle must not wait for a connection that hangs. */
async function* bytesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (!body) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

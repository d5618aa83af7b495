import type { Post } from "./post.ts";

export const postByFetch =
  (fetch: typeof globalThis.fetch): Post =>
  async ({ url, ...init }) => {
    const { status, headers, body } = await fetch(url, { method: "POST", redirect: "error", ...init });
    return {
      status,
      header: (name) => headers.get(name) ?? undefined,
      async read(onBytes) {
        const reader = body?.getReader();
        if (!reader) return;
        try {
          for (;;) {
            const { done, value } = await reader.read();
            if (done || onBytes(value) === false) return;
          }
        } finally {
          // Not awaited: a connection that hangs would hang here too.
          reader.cancel().catch(() => undefined);
        }
      },
    };
  };

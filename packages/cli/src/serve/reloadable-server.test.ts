import { expect, it } from "vitest";
import { createReloadableServer } from "./reloadable-server.ts";
import type { ServerInstance } from "./server-instance.ts";

/** As far as the front uses it; it is idle, and takes as long to close as it is let. */
function generation(closing: Promise<void> = Promise.resolve()): ServerInstance {
  const server = { routes: [], keys: {}, fetch: async () => new Response("") };
  return { server, idle: async () => undefined, close: () => closing } as unknown as ServerInstance;
}

it("a reloadable server closes only after the replaced instances have finished their work (F67)", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const front = createReloadableServer(generation(promise), (_, given) => given);
  front.replace(generation());
  await new Promise((next) => setTimeout(next, 10));
  let isClosed = false;
  const closed = front.server.close(0).then(() => {
    isClosed = true;
  });
  await new Promise((next) => setTimeout(next, 10));
  expect(isClosed).toBe(false);
  resolve();
  await closed;
});

import { findRestateServer, type RestateServer, startRestate } from "@capstan/verification/restate";
import { memory } from "capstan/stores/memory";
import { adaptEngine, engineSuite } from "capstan/testing/engine-suite";
import { afterAll, beforeAll, describe } from "vitest";
import { restate } from "./restate.ts";

let server: RestateServer;
let engineCount = 0;

describe.skipIf(!findRestateServer())("with a real server", () => {
  beforeAll(async () => {
    server = await startRestate();
  });
  afterAll(() => server.stop());

  engineSuite(
    "restate",
    () =>
      adaptEngine(memory(), async (options) => {
        engineCount += 1; // every engine has its own store, so its own service
        const engine = restate({
          ...options,
          ingress: { url: server.ingressUrl },
          service: `engine-${engineCount}`,
          recoverEveryMs: 100,
          maxRetryMs: 200,
        });
        const { url } = await engine.listen();
        await engine.register({ adminUrl: server.adminUrl, url });
        return engine;
      }),
    { isRemote: true, share: 0.05 },
  );
});

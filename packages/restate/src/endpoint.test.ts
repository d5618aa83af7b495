import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRestateServer, type RestateServer, startRestate } from "@capstan/verification/restate";
import { AgentError } from "capstan";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createWorker, type Worker } from "./endpoint.ts";
import { createIngress } from "./ingress.ts";
import { registerDeployment } from "./register.ts";

const settings = { maxSegmentMs: 3_600_000, maxRetryMs: 500 };

let server: RestateServer;
const workers: Worker[] = [];
const folder = mkdtempSync(join(tmpdir(), "capstan-restate-key-"));
let serviceCount = 0;
let service = "";

type Execute = (runId: string) => unknown;

/** Starts a worker that calls `execute`, and registers it as the newest deployment of the service. */
async function startWorker(execute: Execute, identityKeys?: readonly string[]): Promise<Worker> {
  const worker = createWorker(service, settings, async ({ runId }) => void (await execute(runId)));
  workers.push(worker);
  const { url } = await worker.listen(identityKeys && { identityKeys });
  await registerDeployment({ adminUrl: server.adminUrl, url });
  return worker;
}

const send = (runId: string, more: { sessionId?: string; key?: string; delayMs?: number } = {}) =>
  createIngress({ url: server.ingressUrl }, service).send({
    ...{ handler: "start", sessionId: "session", runId, key: runId },
    ...more,
  });

describe.skipIf(!findRestateServer())("the endpoint of a worker, called by a real server", () => {
  beforeAll(async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const identityKeyFile = join(folder, "key.pem");
    writeFileSync(identityKeyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
    server = await startRestate({ identityKeyFile });
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  let executed: string[] = [];
  beforeEach(() => {
    executed = [];
    serviceCount += 1;
    service = `service-${serviceCount}`;
  });

  it("executes a request once for each key, and keeps a delayed one for later", async () => {
    await startWorker((runId) => executed.push(runId));
    await send("later", { sessionId: "other", delayMs: 3_600_000 });
    await send("now");
    await send("now");
    await send("last");
    await expect.poll(() => executed).toEqual(["now", "last"]);
    const query = `SELECT status FROM sys_invocation WHERE target_service_name = '${service}' AND target_service_key = 'other'`;
    expect(await server.query(query)).toEqual([{ status: "scheduled" }]);
  });

  it("tells Restate never to give up, to wait for long segments, and to keep nothing", async () => {
    await startWorker(() => undefined);
    const response = await fetch(`${server.adminUrl}/services/${service}/handlers`);
    const { handlers } = (await response.json()) as { handlers: readonly unknown[] };
    expect(handlers).toHaveLength(2);
    for (const handler of handlers)
      expect(handler).toMatchObject({
        ...{ ty: "Exclusive", inactivity_timeout: "1h", abort_timeout: "0s" },
        ...{ journal_retention: "0s", idempotency_retention: "1m" },
        retry_policy: { max_attempts: Number.MAX_SAFE_INTEGER, max_interval: "500ms" },
      });
  });

  it("executes the requests of a session one at a time, and those of others meanwhile", async () => {
    const first = Promise.withResolvers<void>();
    await startWorker(async (runId) => {
      executed.push(runId);
      if (runId === "first") await first.promise;
    });
    await send("first");
    await expect.poll(() => executed).toEqual(["first"]);
    await send("second");
    await send("other", { sessionId: "another / session" });
    await expect.poll(() => executed).toEqual(["first", "other"]);
    first.resolve();
    await expect.poll(() => executed).toEqual(["first", "other", "second"]);
  });

  it("repeats a request that failed until it succeeds, and gives up only if it can never succeed", async () => {
    await startWorker((runId) => {
      executed.push(runId);
      if (runId === "deleted") throw new AgentError("unknown_run", "Gone.");
      if (executed.length < 8) throw new AgentError("store_failed", "Down.");
    });
    await send("deleted");
    await send("run");
    await expect.poll(() => executed.length).toBe(8);
    expect(executed).toEqual(["deleted", ...Array(7).fill("run")]);
  });

  it("moves a request in flight to a new deployment when its worker is drained (S4-60)", async () => {
    const drain = Promise.withResolvers<void>();
    const old = await startWorker(async (runId) => {
      executed.push(`old ${runId}`);
      await drain.promise;
    });
    await send("run");
    await expect.poll(() => executed).toEqual(["old run"]);
    const closed = old.close();
    await startWorker((runId) => executed.push(`new ${runId}`));
    drain.reject(new AgentError("aborted", "This worker stops."));
    await closed;
    await expect.poll(() => executed).toEqual(["old run", "new run"]);
  });

  it("answers the requests it has when it closes, and takes no more", async () => {
    const finish = Promise.withResolvers<void>();
    const old = await startWorker(async (runId) => {
      executed.push(`old ${runId}`);
      await finish.promise;
    });
    await send("first");
    await expect.poll(() => executed).toEqual(["old first"]);
    const closed = old.close();
    await startWorker((runId) => executed.push(`new ${runId}`));
    await send("second", { sessionId: "other" });
    await expect.poll(() => executed).toEqual(["old first", "new second"]);
    finish.resolve();
    await closed;
    await send("third");
    await expect.poll(() => executed).toEqual(["old first", "new second", "new third"]);
  });

  it("takes requests that its Restate server signed, and no others", async () => {
    const identityKey = /publickeyv1_\w+/.exec(server.nodes[0]?.getLog() ?? "")?.[0] ?? "";
    const worker = await startWorker((runId) => executed.push(runId), [identityKey]);
    await send("signed");
    await expect.poll(() => executed).toEqual(["signed"]);
    const { url } = await worker.listen({ identityKeys: [identityKey] });
    expect(await requestUnsigned(`${url}/invoke/${service}/start`)).toBe(401);
    const foreign = createWorker(service, settings, async () => undefined);
    workers.push(foreign);
    const otherKey = "publickeyv1_2G8dCQhArfvGpzPw5Vx2ALciR4xCLHfS5YaT93XjNxX9";
    const { url: foreignUrl } = await foreign.listen({ identityKeys: [otherKey] });
    await expect(registerDeployment({ adminUrl: server.adminUrl, url: foreignUrl })).rejects.toMatchObject({
      code: "server_unreachable",
    });
  });
});

function requestUnsigned(url: string): Promise<number> {
  const { origin, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const session = connect(origin).on("error", reject);
    session
      .request({
        ":method": "POST",
        ":path": pathname,
        "content-type": "application/vnd.restate.invocation.v5",
      })
      .on("response", (headers) => {
        resolve(Number(headers[":status"]));
        session.destroy();
      })
      .on("error", reject)
      .end();
  });
}

import { memory } from "capstan/stores/memory";
import { afterEach, expect, it } from "vitest";
import { apiKeys } from "../access/api-keys.ts";
import { createSignIns, signInSeconds } from "../access/sign-ins.ts";
import { createHelloAgent } from "../testing/hello-agent.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const own = "the-own-key-of-this-server";
const open: TestServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0);
});

function serve(options: Partial<Parameters<typeof createTestServer>[0]> = {}): TestServer {
  const server = createTestServer({ agents: [createHelloAgent()], apiKey: own, ...options });
  open.push(server);
  return server;
}

function readSetCookie(answer: Response): string {
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

const readStatus = (server: TestServer, cookie: string) =>
  server.send("GET", "/api/runs", undefined, { cookie }).then(({ status }) => status);

it("a code is exchanged once for a cookie that no script can read (A82)", async () => {
  const server = serve();
  const code = server.oneTimeCode();
  const answer = await server.send("POST", "/api/sign-in", { code });
  expect(answer.status).toBe(204);
  expect(answer.headers.get("set-cookie")).toMatch(
    /^capstan-80=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200$/,
  );
  expect(await readStatus(server, readSetCookie(answer))).toBe(200);
  expect((await server.send("POST", "/api/sign-in", { code })).status).toBe(401);
});

it("only one of many concurrent sign-ins with the same code succeeds (A82)", async () => {
  const server = serve();
  const code = server.oneTimeCode();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => server.send("POST", "/api/sign-in", { code })),
  );
  expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
});

it("signing out takes the cookie away with the same attributes, and it is good for nothing (A82)", async () => {
  const server = serve();
  const cookie = readSetCookie(await server.send("POST", "/api/sign-in", { key: own }));
  const out = await server.send("POST", "/api/sign-out", undefined, { cookie });
  expect(out.headers.get("set-cookie")).toBe("capstan-80=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
  expect(await readStatus(server, cookie)).toBe(401);
});

it("on https the cookie is bound to the host and to https (A82)", async () => {
  const server = serve();
  const ask = (path: string, body?: unknown) =>
    server.fetch(
      new Request(`https://localhost:8443${path}`, {
        method: "POST",
        headers: { host: "localhost:8443", "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const answer = await ask("/api/sign-in", { key: own });
  expect(answer.headers.get("set-cookie")).toMatch(
    /^__Host-capstan-8443=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200; Secure$/,
  );
  expect((await ask("/api/sign-out")).headers.get("set-cookie")).toMatch(/^__Host-capstan-8443=; .*Secure$/);
});

it("behind an https proxy the cookie is bound to https too (A82)", async () => {
  const host = "app.example.com";
  const server = serve({ hosts: [host], origins: [`https://${host}`] });
  const ask = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
    server.fetch(
      new Request(`http://${host}${path}`, {
        method,
        headers: { host, "content-type": "application/json", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const answer = await ask("POST", "/api/sign-in", { origin: `https://${host}` }, { key: own });
  expect(answer.headers.get("set-cookie")).toMatch(/^__Host-capstan-443=.*; Secure$/);
  expect((await ask("GET", "/api/runs", { cookie: readSetCookie(answer) })).status).toBe(200);
});

it("the cookie of a server on another port is another one, and two of a name are none (A82)", async () => {
  const server = serve();
  const token = readSetCookie(await server.send("POST", "/api/sign-in", { key: own })).split("=")[1];
  expect(await readStatus(server, `capstan-80=${token}`)).toBe(200);
  expect(await readStatus(server, `other=1; capstan-80=${token}`)).toBe(200);
  expect(await readStatus(server, `capstan-4680=${token}`)).toBe(401);
  expect(await readStatus(server, `capstan-80=x; capstan-80=${token}`)).toBe(401);
  expect(await readStatus(server, "capstan-80=")).toBe(401);
  expect(await readStatus(server, `capstan-80=${"x".repeat(1_000_000)}`)).toBe(401);
});

it("signing in with a key makes the browser its user, until the key is revoked (A82)", async () => {
  const server = serve();
  const { id, secret } = await server.keys.create({ user: "ada" });
  const cookie = readSetCookie(await server.send("POST", "/api/sign-in", { key: secret }));
  const started = await server.send("POST", "/api/runs", { input: "Hello" }, { cookie });
  expect((await started.json()).sessionId).toMatch(/^ada~/);
  await server.keys.revoke(id);
  expect(await readStatus(server, cookie)).toBe(401);
});

it("a server with a different API key rejects the cookies of the previous one (A82)", async () => {
  const store = memory();
  const cookie = readSetCookie(await serve({ store }).send("POST", "/api/sign-in", { key: own }));
  expect(await readStatus(serve({ store }), cookie)).toBe(200);
  expect(await readStatus(serve({ store, apiKey: "another-key-of-this-server" }), cookie)).toBe(401);
});

it("a token is stored only as a hash (A82)", async () => {
  const store = memory();
  const server = serve({ store });
  const token = readSetCookie(
    await server.send("POST", "/api/sign-in", { code: server.oneTimeCode() }),
  ).split("=")[1];
  expect(JSON.stringify(await store.listRecords("sign-in"))).not.toContain(token);
});

it("wrong codes and keys are refused, and more in the body too (A82, A85)", async () => {
  const server = serve();
  for (const body of [{ code: "x" }, { key: "x" }, { code: own }, { key: server.oneTimeCode() }])
    expect((await server.send("POST", "/api/sign-in", body)).status).toBe(401);
  for (const body of [{}, { key: own, user: "bob" }, { code: "x", key: own }, { key: "" }, undefined])
    expect((await server.send("POST", "/api/sign-in", body)).status).toBe(400);
});

it("codes and cookies end, and a clock that is set back does not bring them back (A120)", async () => {
  const store = memory();
  let now = 1_000_000_000;
  const keys = apiKeys(store, { own, now: () => now });
  const here = createSignIns(store, { keys, now: () => now });
  const late = here.createCode();
  now += 120_000;
  expect(await here.open({ code: late })).toBeUndefined();
  now -= 120_000;
  expect(await here.open({ code: late })).toBeUndefined();
  const token = (await here.open({ key: own })) ?? "";
  expect(await here.check(token)).toMatchObject({ user: "" });
  now += signInSeconds * 1000;
  expect(await here.check(token)).toBeUndefined();
  now -= signInSeconds * 1000;
  expect(await here.check(token)).toBeUndefined();
});

import { request } from "node:http";
import { findFreePort } from "@capstan/verification/find-free-port";
import { expect, it, vi } from "vitest";
import { type LoopbackOptions, loopbackRedirect } from "./loopback-redirect.ts";
import type { Redirect } from "./redirect.ts";
import { startCanary } from "./testing/canary-server.ts";

const url = new URL("https://auth.test/authorize?client_id=client&scope=a+b");
const state = "the-state";

type Waiting = {
  readonly redirect: Redirect;
  readonly port: number;
  readonly answer: Promise<URLSearchParams>;
};

/** A question whose URL has been shown. */
async function startWaiting(options: Partial<LoopbackOptions> = {}): Promise<Waiting> {
  const port = await findFreePort();
  const shown = Promise.withResolvers<void>();
  const redirect = loopbackRedirect({ port, timeoutMs: 60_000, open: () => shown.resolve(), ...options });
  const answer = redirect.authorize({ server: "notes", url, state, signal: new AbortController().signal });
  answer.catch(() => undefined);
  if (!options.open) await shown.promise;
  return { redirect, port, answer };
}

type Ask = { readonly path?: string; readonly method?: string; readonly host?: string };

function sendRequest(port: number, { path = "/callback", method = "GET", host }: Ask): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { ...(host && { host }) };
    const sent = request({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    sent.once("error", reject).end();
  });
}

it("shows the whole URL and returns the response with the right state (A55)", async () => {
  const open = vi.fn();
  const { port, answer } = await startWaiting({ open });
  await vi.waitFor(() => expect(open).toHaveBeenCalledWith(url.href, "notes"), 30_000);
  expect(await sendRequest(port, { path: `/callback?code=abc&state=${state}&iss=x` })).toBe(200);
  expect(Object.fromEntries(await answer)).toEqual({ code: "abc", state, iss: "x" });
});

it("closes after one response", async () => {
  const { port, answer } = await startWaiting();
  await sendRequest(port, { path: `/callback?code=abc&state=${state}` });
  await answer;
  await expect(sendRequest(port, { path: `/callback?code=abc&state=${state}` })).rejects.toMatchObject({
    code: "ECONNREFUSED",
  });
});

it("refuses other paths, methods, hosts and states, and keeps waiting (A58)", async () => {
  const { port, answer } = await startWaiting();
  const good = `/callback?code=abc&state=${state}`;
  const refused: [Ask, number][] = [
    [{ path: `/?code=abc&state=${state}` }, 404],
    [{ path: `/callback/?code=abc&state=${state}` }, 404],
    [{ path: `http://127.0.0.1:${port}${good}` }, 404],
    [{ path: good, method: "POST" }, 405],
    [{ path: good, method: "HEAD" }, 405],
    [{ path: good, host: `localhost:${port}` }, 421],
    [{ path: good, host: "thief.test" }, 421],
    [{ path: "/callback?code=abc&state=guessed" }, 400],
    [{ path: "/callback?code=abc" }, 400],
    [{ path: `${good}&state=${state}` }, 400],
    [{ path: "/callback?error=access_denied&state=guessed" }, 400],
  ];
  for (const [asked, status] of refused) expect(await sendRequest(port, asked)).toBe(status);
  expect(await sendRequest(port, { path: good })).toBe(200);
  expect((await answer).get("code")).toBe("abc");
});

it("responds with a plain page without scripts or parts of the request", async () => {
  const { port, answer } = await startWaiting();
  const response = await fetch(`http://127.0.0.1:${port}/callback?code=%3Cscript%3E&state=${state}`);
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await response.text()).toBe("Signed in. You can close this page.\n");
  await answer;
});

it("rejects with an error code after the timeout, and frees the port", async () => {
  const { answer, port } = await startWaiting({ timeoutMs: 100 });
  await expect(answer).rejects.toMatchObject({ code: "mcp_disconnected", retryable: false });
  await expect(sendRequest(port, {})).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

it("rejects with an error code when the URL cannot be shown or the port is taken", async () => {
  const { answer } = await startWaiting({ open: () => Promise.reject(new Error("no display")) });
  await expect(answer).rejects.toThrow('The server "notes" requires sign-in: the URL could not be shown.');
  const taken = await startCanary();
  const open = vi.fn();
  const second = await startWaiting({ port: taken.port, open });
  await expect(second.answer).rejects.toThrow("EADDRINUSE");
  expect(open).not.toHaveBeenCalled();
  await taken.close();
});

it("handles one server after the other", async () => {
  const shown: string[] = [];
  const { redirect, port, answer } = await startWaiting({ open: (_, server) => void shown.push(server) });
  const signal = new AbortController().signal;
  const second = redirect.authorize({ server: "mail", url, state: "second", signal });
  await vi.waitFor(() => expect(shown).toEqual(["notes"]), 30_000);
  expect(await sendRequest(port, { path: "/callback?code=b&state=second" })).toBe(400);
  await sendRequest(port, { path: `/callback?code=a&state=${state}` });
  expect((await answer).get("code")).toBe("a");
  await vi.waitFor(() => expect(shown).toEqual(["notes", "mail"]), 30_000);
  await sendRequest(port, { path: "/callback?code=b&state=second" });
  expect((await second).get("code")).toBe("b");
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuildCommand, type StartedHost, startHost } from "./start-host.ts";

type HostTraits = {
  /** The host lets a run continue after the response to the request that started it. Default: true. */
  readonly keepsRunning?: boolean;
  /** The host tells the server that a client has gone, instead of ending everything by itself. Default: true. */
  readonly reportsDisconnects?: boolean;
};

/** What every host must do with the server of this folder, mounted under `/agents`. */
export function hostSuite(name: string, build: BuildCommand, traits: HostTraits = {}): void {
  const { keepsRunning = true, reportsDisconnects = true } = traits;
  let host: StartedHost;
  const send = (path: string, init: RequestInit = {}) => fetch(`${host.url}/agents${path}`, init);
  const post = (path: string, body: unknown, init: RequestInit = {}) =>
    send(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      ...init,
    });
  const chat = (content: string, init?: RequestInit) =>
    post("/api/chat", { messages: [{ role: "user", content }] }, init);

  describe(name, () => {
    beforeAll(async () => {
      host = await startHost(build);
    });
    afterAll(() => host?.stop());

    it("passes requests, headers and cookies", async () => {
      const health = await send("/api/health");
      expect(health.status).toBe(200);
      expect(health.headers.get("x-content-type-options")).toBe("nosniff");
      const signedOut = await post("/api/sign-out", undefined);
      expect(signedOut.headers.get("set-cookie")).toMatch(/^capstan-\d+=; .*Path=\//);
      const missing = await send("/api/nothing");
      expect([missing.status, (await missing.json()).error.code]).toEqual([404, "no_route"]);
      expect((await send("/api/health", { headers: { origin: "https://evil.example" } })).status).toBe(403);
    });

    it("is known under its base path", async () => {
      const card = await (await send("/.well-known/agent-card.json")).json();
      expect(new URL(card.supportedInterfaces[0].url).pathname).toBe("/agents/a2a");
    });

    it.runIf(keepsRunning)("continues a stored run after the response", async () => {
      const started = await post("/api/runs", { input: "count" });
      expect([started.status, started.headers.get("location")]).toEqual([
        201,
        expect.stringMatching(/^\/agents\/api\/runs\/run_/),
      ]);
      const events = await fetch(`${host.url}${started.headers.get("location")}/events`);
      expect(await events.text()).toContain("event: done");
    });

    it("streams: the first event arrives before the last is written", async () => {
      const response = await chat("stream", {
        headers: { "content-type": "application/json", "accept-encoding": "gzip" },
      });
      expect(response.headers.get("content-type")).toContain("text/event-stream");
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes("first")) text += (await reader?.read())?.value;
      expect(text).not.toContain("last");
      expect(await (await chat("release")).text()).toContain("released");
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
        text += part.value;
      expect(text).toContain("last");
    });

    it.runIf(reportsDisconnects)("ends the model call when its client goes", async () => {
      const countStops = async () => (await (await chat("count")).text()).match(/\d+ stops/)?.[0];
      const before = await countStops();
      const leaving = new AbortController();
      const response = await chat("hang", { signal: leaving.signal });
      await response.body?.getReader().read();
      leaving.abort();
      await expect.poll(countStops).not.toBe(before);
    });

    it("limits bodies", async () => {
      const status = await post("/api/runs", { input: "x".repeat(5 * 1024 * 1024) }).then(
        (response) => response.status,
        // Some hosts close the connection before the body was sent, and the client does not read the response.
        (thrown: { readonly cause?: { readonly code?: string } }) => thrown.cause?.code,
      );
      expect([413, "EPIPE", "ECONNRESET"]).toContain(status);
      expect((await send("/api/health")).status).toBe(200);
    });
  });
}

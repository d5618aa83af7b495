// The bridge on a machine with credentials of Google Cloud, and nothing else configured.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "capstan";
import { expect, it, onTestFinished, vi } from "vitest";
import { bridge } from "./agent.ts";

type Sent = { readonly url: string; readonly body: { readonly generationConfig?: object } };

/** Sets up a login of a workload whose tokens come from this machine. Returns the requests to Vertex. */
async function simulateGoogleCloud(): Promise<readonly Sent[]> {
  const tokens = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ access_token: "ya29.t", token_type: "Bearer", expires_in: 3600 }));
  });
  await once(tokens.listen(0, "127.0.0.1"), "listening");
  const address = tokens.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const folder = mkdtempSync(join(tmpdir(), "capstan-vertex-"));
  const credentials = {
    type: "external_account",
    audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: `http://127.0.0.1:${port}/token`,
    credential_source: { file: join(folder, "subject") },
    quota_project_id: "our-project",
  };
  writeFileSync(join(folder, "subject"), "subject-token");
  writeFileSync(join(folder, "credentials.json"), JSON.stringify(credentials));
  for (const name of Object.keys(process.env))
    if (/_API_KEY$|_TOKEN$|^CAPSTAN_MODEL$/.test(name)) vi.stubEnv(name, "");
  vi.stubEnv("GOOGLE_CLOUD_PROJECT", "");
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", join(folder, "credentials.json"));
  const sent: Sent[] = [];
  const candidate = { content: { parts: [{ text: "Done." }] }, finishReason: "STOP" };
  vi.stubGlobal("fetch", async (target: unknown, init?: RequestInit) => {
    sent.push({ url: String(target), body: JSON.parse(String(init?.body)) });
    return new Response(`data: ${JSON.stringify({ candidates: [candidate] })}\n\n`);
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
    tokens.close();
  });
  return sent;
}

it("uses Vertex when its credentials are present, and asks for thoughts when a question calls for reasoning (S4-14, S4-67)", async () => {
  const sent = await simulateGoogleCloud();
  const agent = await bridge({ mcp: { tools: [] }, web: false });
  for (const question of ["Hello!", "Compare km and miles, step by step."])
    expect(await run(agent, question)).toMatchObject({ status: "done", text: "Done." });
  const url =
    "https://aiplatform.googleapis.com/v1/projects/our-project/locations/global/publishers/google/models/gemini-3.5-flash:streamGenerateContent?alt=sse";
  expect(sent.map((request) => request.url)).toEqual([url, url]);
  const [plain, thinking] = sent.map(({ body }) => body.generationConfig ?? {});
  expect(plain).not.toMatchObject({ thinkingConfig: { includeThoughts: true } });
  expect(thinking).toMatchObject({ thinkingConfig: { includeThoughts: true } });
});

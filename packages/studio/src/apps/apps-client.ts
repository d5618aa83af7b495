import type { Json } from "capstan";
import { fetchDetectingSignIn } from "../data/sign-in.ts";

/** The call whose tool has an app: its session, and the position of its start. */
export type AppPlace = { readonly sessionId: string; readonly seq: number };

/** An app, and the origins that it may use. */
export type AppInfo = {
  readonly server: string;
  readonly domains: { readonly [Purpose in "connect" | "resource" | "frame"]: readonly string[] };
  readonly digest: string;
};

const getPath = ({ sessionId, seq }: AppPlace): string =>
  `/api/sessions/${encodeURIComponent(sessionId)}/apps/${seq}`;

/** Returns the address of the page of an app, for a frame. */
export function getPagePath(place: AppPlace, { digest }: AppInfo): string {
  return `${getPath(place)}/page?digest=${encodeURIComponent(digest)}`;
}

/** Rejects with the reason if the app cannot be shown. */
export async function loadApp(place: AppPlace): Promise<AppInfo> {
  const { app } = (await request(getPath(place))) as { readonly app: AppInfo };
  return app;
}

/** Starts the run that makes a call of an app. */
export async function startAppCall(place: AppPlace, tool: string, input: Json): Promise<string> {
  const body = JSON.stringify({ tool, arguments: input });
  const headers = { "content-type": "application/json" };
  const { runId } = (await request(`${getPath(place)}/calls`, { method: "POST", headers, body })) as {
    readonly runId: string;
  };
  return runId;
}

async function request(path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetchDetectingSignIn(path, init);
  const answer = (await response.json()) as { readonly error?: { readonly message: string } };
  if (answer.error) throw new Error(answer.error.message);
  return answer;
}

import { AgentError } from "capstan";

export type IngressOptions = {
  /** The address of Restate's ingress, such as `http://127.0.0.1:8080`; of a cluster, that of its balancer. */
  readonly url: string;
  /** Sent with every request, such as `authorization` for Restate Cloud. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** Asks Restate for one invocation of a session's handler. */
export type Invocation = {
  readonly handler: "start" | "wake";
  readonly sessionId: string;
  readonly runId: string;
  /** Restate accepts the invocation once for each key. */
  readonly key: string;
  readonly delayMs?: number;
};

export type Ingress = { send(invocation: Invocation): Promise<void> };

const timeoutMs = 10_000;

/** A client of Restate's ingress. An accepted invocation is durable: Restate executes it, whatever stops in between. */
export function createIngress({ url, headers }: IngressOptions, service: string): Ingress {
  const base = parseBaseUrl(url, "ingress.url");
  return {
    async send({ handler, sessionId, runId, key, delayMs = 0 }) {
      const delay = delayMs > 0 ? `?delay=${Math.ceil(delayMs)}ms` : "";
      const path = `${service}/${encodeURIComponent(sessionId)}/${handler}/send${delay}`;
      const response = await postJson(`${base}/${path}`, { runId }, { ...headers, "idempotency-key": key });
      if (response.ok) return void (await response.body?.cancel());
      const reason = `${response.status} ${(await response.text()).slice(0, 500)}`;
      const advice =
        response.status === 404 ? `Register the workers: no deployment serves "${service}".` : "Try again.";
      throw new AgentError("server_unreachable", `Restate refused the run "${runId}" (${reason}). ${advice}`);
    },
  };
}

/** Posts JSON to a server of Restate. Rejects with `server_unreachable` without a response. */
export async function postJson(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  try {
    return await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (cause) {
    const message = `Restate does not answer at ${new URL(url).origin}. Check the address, and that the server runs.`;
    throw new AgentError("server_unreachable", message, { cause });
  }
}

export function parseBaseUrl(text: string, option: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return text.replace(/\/+$/, "");
  const message = `\`${option}\` of restate() is "${text}". Pass an http or https URL, such as "http://127.0.0.1:8080".`;
  throw new AgentError("invalid_definition", message);
}

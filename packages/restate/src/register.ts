import { AgentError } from "capstan";
import { parseBaseUrl, postJson } from "./ingress.ts";

export type RegisterOptions = {
  /** The address of Restate's admin API, such as `http://127.0.0.1:9070`. */
  readonly adminUrl: string;
  /** The address at which Restate reaches the workers: one of them, or their balancer. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * Tells Restate where the workers are: once for each address. An address that Restate knows is read again, which is safe
 * while segments run, because they have no journal.
 */
export async function registerDeployment({ adminUrl, url, headers }: RegisterOptions): Promise<void> {
  const target = `${parseBaseUrl(adminUrl, "adminUrl")}/deployments`;
  const response = await postJson(target, { uri: parseBaseUrl(url, "url"), force: true }, headers);
  if (response.ok) return void (await response.body?.cancel());
  const reason = `${response.status} ${(await response.text()).slice(0, 500)}`;
  const message = `Restate could not register the workers at ${url} (${reason}). Check that it reaches this address over HTTP/2.`;
  throw new AgentError("server_unreachable", message);
}

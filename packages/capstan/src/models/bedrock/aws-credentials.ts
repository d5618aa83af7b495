import type { Clock } from "../../base/clock.ts";
import { type Credential, createCredential, importPeer } from "../credentials.ts";
import { readEnv } from "../environment.ts";

/** Keys of AWS. The same fields as in the AWS SDK, whose credential providers can be passed. */
export type AwsKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** Keys without an expiration are read again for the next request. */
  readonly expiration?: Date | undefined;
};

export type AwsKeysProvider = () => AwsKeys | Promise<AwsKeys>;

/**
 * Uses the first of `credentials`, the variables `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` (not if `AWS_PROFILE` is
 * set), and the chain of the AWS SDK: profiles, single sign-on, web identities, containers and instances.
 */
export function getAwsCredential(
  credentials: AwsKeys | AwsKeysProvider | undefined,
  clock: Clock | undefined,
): Credential<AwsKeys> {
  if (credentials) {
    const load = typeof credentials === "function" ? credentials : () => credentials;
    return createCredential({ source: "`credentials`", clock, load: async () => withExpiry(await load()) });
  }
  const ownChain = clock && createChain(clock);
  const getChain = () => ownChain ?? getSharedChain();
  return {
    get: async () => readKeys() ?? getChain().get(),
    renew: async (wasRefused) => !readKeys() && getChain().renew(wasRefused),
  };
}

const withExpiry = (keys: AwsKeys) => ({ value: keys, expiresAt: keys.expiration?.getTime() });

function readKeys(): AwsKeys | undefined {
  const accessKeyId = readEnv("AWS_ACCESS_KEY_ID");
  const secretAccessKey = readEnv("AWS_SECRET_ACCESS_KEY");
  if (!accessKeyId || !secretAccessKey || readEnv("AWS_PROFILE")) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: readEnv("AWS_SESSION_TOKEN") };
}

/** By profile. Shared by all clients, so that they load the keys once. */
const chains = new Map<string, Credential<AwsKeys>>();

function getSharedChain(): Credential<AwsKeys> {
  const profile = readEnv("AWS_PROFILE") ?? "";
  const chain = chains.get(profile) ?? createChain();
  chains.set(profile, chain);
  return chain;
}

function createChain(clock?: Clock): Credential<AwsKeys> {
  const profile = readEnv("AWS_PROFILE");
  return createCredential({
    source: profile ? `the AWS profile ${JSON.stringify(profile)}` : "the credential chain of AWS",
    advice: "Set AWS_BEARER_TOKEN_BEDROCK, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.",
    clock,
    async load() {
      const { defaultProvider } = await importPeer<typeof import("@aws-sdk/credential-provider-node")>({
        name: "@aws-sdk/credential-provider-node",
        user: "AWS credentials other than the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        advice: "set these variables or AWS_BEARER_TOKEN_BEDROCK, or pass `credentials`",
      });
      // A new one each time: it would return the keys that it already has, also after they were refused.
      const keys: AwsKeys = await defaultProvider({ ...(profile && { profile }) })();
      return { value: keys, expiresAt: keys.expiration?.getTime() ?? Number.POSITIVE_INFINITY };
    },
  });
}

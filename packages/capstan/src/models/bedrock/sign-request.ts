import { type Clock, systemClock } from "../../base/clock.ts";
import { importPeer } from "../credentials.ts";
import type { PostRequest } from "../post.ts";
import type { AwsKeys } from "./aws-credentials.ts";

export type SignRequestOptions = {
  readonly keys: AwsKeys;
  readonly region: string;
  readonly clock?: Clock | undefined;
};

/** Returns the headers of a request to Bedrock, with an AWS signature (version 4). */
export async function signRequest(
  { url, headers, body }: Pick<PostRequest, "url" | "headers" | "body">,
  { keys, region, clock = systemClock }: SignRequestOptions,
): Promise<Record<string, string>> {
  const { AwsV4Signer } = await importPeer<typeof import("aws4fetch")>({
    name: "aws4fetch",
    user: "Requests to Bedrock that are signed with AWS keys",
    advice: "or set AWS_BEARER_TOKEN_BEDROCK",
  });
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  const signer = new AwsV4Signer({
    ...{ method: "POST", url, headers, body, region, service: "bedrock" },
    ...{ accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
    datetime: new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ""),
  });
  return Object.fromEntries((await signer.sign()).headers);
}

import type { ConnectionStatus } from "./connection.ts";
import type { Server } from "./server.ts";
import type { ChangedTool, ServerMetadata } from "./tools/tool-list.ts";

/** Status of a server and its tools. */
export type ServerStatus = ConnectionStatus & {
  readonly name: string;
  /** The URL without its query, or the name of the program. Undefined if the configuration is invalid. */
  readonly address?: string;
  /** Whether the server is used with the tokens of a sign-in. */
  readonly isSignedIn: boolean;
  /** Tool names as the model sees them. */
  readonly tools: readonly string[];
  /** Tools that are disabled until they are trusted again. */
  readonly changed: readonly ChangedTool[];
  /** Whether the user or the operator has approved everything that the model reads of the server. */
  readonly isApproved: boolean;
  /** What the model reads of the server. */
  readonly metadata: ServerMetadata;
  /** Why tools are not offered or are suspicious. */
  readonly problems: readonly string[];
};

export function getServerStatus({ connection, toolList, address, isSignedIn }: Server): ServerStatus {
  const { tools, changed, metadata, problems } = toolList;
  return {
    name: connection.name,
    ...(address !== undefined && { address }),
    ...connection.status(),
    isSignedIn: isSignedIn(),
    tools: tools.map(({ name }) => name),
    changed,
    isApproved: metadata.tools.every((tool) => tool.isApproved),
    metadata,
    problems,
  };
}

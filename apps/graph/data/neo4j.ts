// Reads a Neo4j database with its official driver, which is loaded only if there is an address of one.

import { AgentError } from "capstan";
import { createNetworkBuilder, type GraphContent } from "./network-builder.ts";
import { toProperties, withTypeAndName } from "./properties.ts";

export const neo4jSchemes: readonly string[] = [
  "bolt:",
  "bolt+s:",
  "bolt+ssc:",
  "neo4j:",
  "neo4j+s:",
  "neo4j+ssc:",
];

export const isNeo4jUrl = (location: string): boolean =>
  URL.canParse(location) && neo4jSchemes.includes(new URL(location).protocol);

export type Neo4jOptions = {
  readonly signal?: AbortSignal;
  /** Where the password is, if the address has none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly limits?: { readonly nodes: number; readonly edges: number };
};

const defaultLimits = { nodes: 5000, edges: 20_000 };

/**
 * Reads the first nodes and the relationships between them, in a session that cannot write. User and password are part
 * of the address, or NEO4J_USERNAME and NEO4J_PASSWORD; the database is its path.
 */
export async function readNeo4j(address: string, options: Neo4jOptions = {}): Promise<GraphContent> {
  const { signal, environment = process.env, limits = defaultLimits } = options;
  const { driver: connect, auth, session: modes, isNode, isRelationship } = await import("neo4j-driver");
  const { url, host, database, user, password } = parseAddress(address, environment);
  const driver = connect(url, auth.basic(user, password), {
    connectionTimeout: 10_000,
    connectionAcquisitionTimeout: 15_000,
    maxTransactionRetryTime: 0,
    disableLosslessIntegers: true,
    telemetryDisabled: true,
  });
  const close = () => void driver.close();
  signal?.addEventListener("abort", close);
  const session = driver.session({ defaultAccessMode: modes.READ, ...(database && { database }) });
  try {
    const builder = createNetworkBuilder();
    const nodes = await session.run("MATCH (n) RETURN n LIMIT toInteger($limit)", {
      limit: limits.nodes + 1,
    });
    for (const record of nodes.records.slice(0, limits.nodes)) {
      const node: unknown = record.get("n");
      if (!isNode(node)) continue;
      const data = withTypeAndName(toProperties(Object.entries(node.properties)), node.labels[0] ?? "node");
      builder.addNode(node.elementId, data, "a node");
    }
    const edges = await session.run(
      "MATCH (n) WITH n LIMIT toInteger($limit) MATCH (n)-[r]->() RETURN r LIMIT toInteger($edges)",
      { limit: limits.nodes, edges: limits.edges },
    );
    for (const record of edges.records) {
      const edge: unknown = record.get("r");
      if (!isRelationship(edge)) continue;
      const data = { ...toProperties(Object.entries(edge.properties)), type: edge.type };
      const [from, to] = [edge.startNodeElementId, edge.endNodeElementId];
      builder.addEdge({ id: edge.elementId, from, to, data }, "a relationship");
    }
    const { network, problems } = builder.build({ title: database || host, isDirected: true });
    const isCut = nodes.records.length > limits.nodes;
    const cut = isCut ? [`Only the first ${limits.nodes} nodes were read; the database has more.`] : [];
    return { network, problems: [...cut, ...problems] };
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof AgentError ? error : toConnectionError(error, host);
  } finally {
    signal?.removeEventListener("abort", close);
    await driver.close();
  }
}

/** Splits the address. Nothing that is shown or stored later has the password. */
function parseAddress(address: string, environment: NonNullable<Neo4jOptions["environment"]>) {
  const { protocol, host, pathname, username, password } = new URL(address);
  return {
    url: `${protocol}//${host}`,
    host,
    database: decodeURIComponent(pathname.slice(1)),
    user: decodeURIComponent(username) || (environment.NEO4J_USERNAME ?? "neo4j"),
    password: decodeURIComponent(password) || (environment.NEO4J_PASSWORD ?? ""),
  };
}

function toConnectionError(error: unknown, host: string): AgentError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
  if (/Unauthorized|AuthenticationRateLimit|TokenExpired/u.test(code))
    return new AgentError("unauthorized", `Neo4j at ${host} did not accept the user or the password.`);
  return new AgentError("server_unreachable", `Neo4j at ${host} cannot be read: ${message}`, {
    retryable: true,
  });
}

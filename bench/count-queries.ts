import pg from "pg";

/** Queries and bytes between this process and Postgres. */
export type PostgresTraffic = { readonly roundTrips: number; readonly bytes: number };

type Stream = { readonly bytesRead: number; readonly bytesWritten: number };

/**
 * Counts the traffic of all Postgres clients of this process from now on, also of those that a library opens. A query is
 * one round trip: pg sends its parts at once.
 */
export function countQueries(): () => PostgresTraffic {
  const streams = new Set<Stream>();
  const { prototype } = pg.Client;
  const { query } = prototype as unknown as { query(...parameters: unknown[]): unknown };
  let roundTrips = 0;
  Object.assign(prototype, {
    query(this: { readonly connection: { readonly stream: Stream } }, ...parameters: unknown[]) {
      roundTrips += 1;
      streams.add(this.connection.stream); // also of closed clients: few are opened
      return query.apply(this, parameters);
    },
  });
  return () => ({
    roundTrips,
    bytes: [...streams].reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0),
  });
}

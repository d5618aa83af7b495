/** The members of a connection pool that the store uses; compatible with `Pool` of pg 8. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  connect(): Promise<PostgresClient>;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  readonly options?: { readonly max?: number };
}

/** One connection of the pool. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  /** `true` discards the connection. */
  release(broken?: boolean): void;
  on(
    event: "notification",
    listener: (message: { readonly channel: string; readonly payload?: string | undefined }) => void,
  ): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
}

/** A row by column name. */
export type PostgresRow = { readonly [column: string]: unknown };
/** The result of a statement. */
export type PostgresResult = { readonly rows: readonly PostgresRow[] };

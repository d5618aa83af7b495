/** What the store needs of a pool of connections; `Pool` of pg 8 has it. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<PostgresAnswer>;
  connect(): Promise<PostgresClient>;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  readonly options?: { readonly max?: number };
}

/** One connection of the pool. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresAnswer>;
  /** `true`: the connection is not to be used again. */
  release(broken?: boolean): void;
  on(event: "notification", listener: (news: { readonly payload?: string | undefined }) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
}

/** A row by the names of its columns. */
export type PostgresRow = { readonly [column: string]: unknown };
/** What a statement gives. */
export type PostgresAnswer = { readonly rows: readonly PostgresRow[] };

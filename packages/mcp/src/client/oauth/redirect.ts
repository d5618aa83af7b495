export type AuthorizationRequest = {
  /** Name of the server in the configuration. */
  readonly server: string;
  /** Already checked: https, or loopback if the server is on loopback. Show it in full. */
  readonly url: URL;
  /** A response with another `state` does not belong to this request. */
  readonly state: string;
  /** Aborts the sign-in. */
  readonly signal: AbortSignal;
};

/**
 * Takes the user to the authorization server and back. `authorize` shows the URL and resolves with the query of the
 * request that reached `url`, whether access was granted or refused. It must have its own timeout.
 */
export type Redirect = {
  /** Where the authorization server sends the user back to. Registered and compared literally. */
  readonly url: string;
  authorize(request: AuthorizationRequest): Promise<URLSearchParams>;
};

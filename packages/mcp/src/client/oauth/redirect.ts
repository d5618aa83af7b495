/** What a person is asked to agree to. */
export type AuthorizationRequest = {
  /** The name of the server in the configuration. */
  readonly server: string;
  /** Checked already: https, or loopback when the server is on loopback. To be shown in full, with its host. */
  readonly url: URL;
  /** An answer with another `state` is not an answer to this request. */
  readonly state: string;
  /** Ends the wait. */
  readonly signal: AbortSignal;
};

/**
 * How a person gets to the authorization server and how the answer comes back. `authorize` shows the URL and resolves
 * with the query of the request that came to `url`, whether it grants or refuses; it must have a time limit of its own.
 */
export type Redirect = {
  /** Where the authorization server sends the person back to: registered and compared as it is written. */
  readonly url: string;
  authorize(request: AuthorizationRequest): Promise<URLSearchParams>;
};

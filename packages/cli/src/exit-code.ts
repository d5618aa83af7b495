/** Process exit codes. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  needsApproval: 3,
  limit: 4,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

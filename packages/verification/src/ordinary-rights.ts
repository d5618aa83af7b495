/**
 * Returns a command that runs another with the rights of the owner of its files. Root may read and write every file;
 * without these two capabilities, the permissions of a file hold for root too.
 */
export function withOrdinaryRights(command: readonly string[]): [program: string, ...args: string[]] {
  const [program = "", ...args] = command;
  if (process.getuid?.() !== 0) return [program, ...args];
  return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--", program, ...args];
}

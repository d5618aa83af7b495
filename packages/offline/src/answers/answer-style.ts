export type AnswerStyle = {
  readonly hideIds: boolean;
  /** The answer then comes from the data of the results. */
  readonly hideMessages: boolean;
};

/** Reads from the instructions whether to omit ids, and the messages of tools. */
export const readAnswerStyle = (instructions: string): AnswerStyle => ({
  hideIds: /\b(?:never|not|don't|no)\b[^.\n]*\bids?\b/iu.test(instructions),
  hideMessages: /\b(?:never|not|don't)\b[^.\n]*\btool['’]s (?:raw )?message\b/iu.test(instructions),
});

/** What an answer has that says it cannot do something. */
export const isHonest: RegExp = /cannot|can't|do not|don't|no tool|not able|only/i;

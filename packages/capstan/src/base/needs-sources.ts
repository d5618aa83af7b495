import { createLazyPattern } from "./lazy.ts";

/** A longer message is not small talk, and is not worth the search. */
const maxLength = 200;

const arithmeticWords = new Set(
  (
    "what what's whats is are how much many calculate compute solve please the of and by to equals equal result sum product " +
    "plus minus times divided multiplied over squared cubed power square root percent " +
    "was ist sind wie viel wieviel rechne mal durch geteilt combien font fait calcule fois divisé par quanto quanta fa " +
    "cuánto cuanto es son más mas menos por entre"
  ).split(" "),
);
const operator =
  /[+\-−*×·÷/^%]|\b(?:plus|minus|times|over|divided|multiplied|squared|cubed|power|root|percent|mal|durch|fois|por|entre)\b|más/u;

const greetings = new Set(
  (
    "hi hello hey howdy greetings morning afternoon evening night thanks thank bye goodbye ok okay great perfect nice cool " +
    "wonderful cheers hallo guten danke dank tschüss bonjour bonsoir salut merci revoir hola buenos buenas gracias adiós " +
    "olá obrigado obrigada ciao grazie"
  ).split(" "),
);
const fillers = new Set(
  (
    "good day you very so much many a lot for that this your the help see later welcome there everyone all again morgen tag " +
    "abend schön sehr vielen beaucoup au días tardes muchas mille"
  ).split(" "),
);
const aboutTheAgent = /^(?:how are you(?: doing)?(?: today)?|how is it going|who are you|what can you do)$/;

/** A remark such as "shorter please", "in German" or "why?". */
const aboutTheAnswer = new RegExp(
  String.raw`^(?:(?:please|now|and|but|ok|okay|can you|could you)[\s,]+)*(?:` +
    [
      "why(?: not)?|really|are you sure(?: about (?:that|this|it))?|how do you know(?: that| this)?",
      "(?:(?:make|say|put|write) (?:it|that|this) )?(?:a (?:bit|little) |much )?(?:shorter|longer|simpler|briefer)",
      "(?:(?:say|write|repeat|put|translate) (?:it|that|this) )?(?:in|into|to) (?:arabic|chinese|danish|dutch|english|finnish|french|german|greek|hindi|italian|japanese|korean|norwegian|polish|portuguese|russian|spanish|swedish|turkish)",
      "(?:translate|summari[sz]e|shorten|explain|rephrase|repeat) (?:it|that|this)|in (?:other|simpler|plain) words",
    ].join("|") +
    ")(?:,? (?:please|then|again))?$",
);

/**
 * Whether an answer to this message has to rest on sources. A greeting, thanks, arithmetic and a remark about the last
 * answer need none.
 */
export function needsSources(message: string): boolean {
  if (message.length > maxLength) return true;
  const text = message
    .toLowerCase()
    .replace(/[\s?!.,;:=]+$/u, "")
    .trim();
  if (text === "") return true;
  return !isArithmetic(text) && !aboutTheAgent.test(text) && !aboutTheAnswer.test(text) && !isCourtesy(text);
}

const getArithmeticWords = createLazyPattern(() => "[\\p{L}'’]+", "gu");
const getOtherText = createLazyPattern(() => "[^\\p{L}\\d\\s'’+\\-−*×x·÷/^%()[\\].,?!=]", "u");

function isArithmetic(text: string): boolean {
  if (!/\d/.test(text) || !operator.test(text)) return false;
  if (getOtherText().test(text)) return false;
  const words = text.match(getArithmeticWords()) ?? [];
  return words.every((word) => word === "x" || arithmeticWords.has(word.replace("’", "'")));
}

function isCourtesy(text: string): boolean {
  const words = text.split(/[\s,!.?]+/u);
  return (
    words.some((word) => greetings.has(word)) &&
    words.every((word) => greetings.has(word) || fillers.has(word))
  );
}

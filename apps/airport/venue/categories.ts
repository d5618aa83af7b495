/** What kinds of places people ask for, the words they use for them, and how IMDF calls them. */
type Category = {
  readonly id: string;
  readonly words: readonly string[];
  /** Categories of IMDF; one ending in "." stands for all that begin with it. */
  readonly imdf: readonly string[];
};

const categories: readonly Category[] = [
  { id: "gate", words: ["boarding gate", "departure gate"], imdf: ["boardinggate", "boardinggate."] },
  {
    id: "restroom",
    words: ["bathroom", "toilet", "wc", "washroom", "lavatory", "loo", "ladies", "gents"],
    imdf: ["restroom", "restroom.", "toilet", "toilet."],
  },
  {
    id: "restaurant",
    words: ["food", "eat", "dinner", "lunch", "meal", "dining", "cuisine"],
    imdf: ["restaurant", "foodservice", "fastfood"],
  },
  {
    id: "cafe",
    words: ["coffee", "coffee shop", "coffeehouse", "espresso"],
    imdf: ["cafe", "coffee", "coffeetea"],
  },
  { id: "shop", words: ["store", "shopping", "buy", "boutique"], imdf: ["shopping", "retail", "giftshop"] },
  { id: "pharmacy", words: ["chemist", "drugstore", "medicine"], imdf: ["pharmacy"] },
  { id: "lounge", words: ["vip", "business lounge"], imdf: ["lounge", "privatelounge"] },
  {
    id: "water",
    words: ["drinking water", "fountain", "bottle", "refill", "drink"],
    imdf: ["drinkingfountain", "waterfountain"],
  },
  {
    id: "charging",
    words: ["charge", "charger", "power", "socket", "outlet", "plug", "phone"],
    imdf: ["powerchargingstation"],
  },
  {
    id: "checkpoint",
    words: ["security", "security check", "screening"],
    imdf: ["securitycheckpoint", "security"],
  },
  { id: "information", words: ["info", "info desk", "help desk", "help"], imdf: ["information"] },
  { id: "checkin", words: ["check-in", "bag drop", "counter"], imdf: ["checkin", "checkin."] },
  {
    id: "baggage",
    words: ["luggage", "bags", "belt", "carousel", "suitcase"],
    imdf: ["baggageclaim", "baggagecarousel"],
  },
  { id: "atm", words: ["cash", "money", "bank"], imdf: ["atm"] },
  { id: "lift", words: ["elevator"], imdf: ["elevator"] },
  { id: "stairs", words: ["staircase", "steps"], imdf: ["stairs", "steps"] },
  { id: "escalator", words: ["moving stairs"], imdf: ["escalator"] },
];

/** The category that people know it by; one that is not in the table keeps its own name. */
export function categoryOf(imdf: string): string {
  const found = categories.find(({ imdf: known }) =>
    known.some((name) => (name.endsWith(".") ? imdf.startsWith(name) : imdf === name)),
  );
  return found?.id ?? imdf;
}

/** Other words for a category. */
export const wordsFor = (id: string): readonly string[] =>
  categories.find((category) => category.id === id)?.words ?? [];

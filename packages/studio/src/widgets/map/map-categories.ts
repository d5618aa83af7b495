import {
  Armchair,
  ArrowUpDown,
  Banknote,
  Coffee,
  Droplets,
  Info,
  type LucideIcon,
  Luggage,
  Pill,
  PlaneTakeoff,
  PlugZap,
  ShieldCheck,
  ShoppingBag,
  Ticket,
  Toilet,
  TrendingUp,
  Utensils,
} from "lucide-react";
import type { MapCategory, MapFeature } from "../widget-props.ts";

type CategoryStyle = { readonly name: string; readonly Icon: LucideIcon; readonly color: string };

/** Related categories share a color; the icon tells them apart. */
export const categoryStyles: { readonly [category in MapCategory]: CategoryStyle } = {
  gate: { name: "Gates", Icon: PlaneTakeoff, color: "var(--series-6)" },
  food: { name: "Food", Icon: Utensils, color: "var(--series-2)" },
  cafe: { name: "Cafés", Icon: Coffee, color: "var(--series-2)" },
  shop: { name: "Shops", Icon: ShoppingBag, color: "var(--series-7)" },
  restroom: { name: "Restrooms", Icon: Toilet, color: "var(--series-3)" },
  security: { name: "Security", Icon: ShieldCheck, color: "var(--series-4)" },
  lift: { name: "Lifts", Icon: ArrowUpDown, color: "var(--series-8)" },
  stairs: { name: "Stairs", Icon: TrendingUp, color: "var(--series-8)" },
  information: { name: "Information", Icon: Info, color: "var(--series-3)" },
  lounge: { name: "Lounges", Icon: Armchair, color: "var(--series-5)" },
  health: { name: "Health", Icon: Pill, color: "var(--series-4)" },
  money: { name: "Money", Icon: Banknote, color: "var(--series-5)" },
  baggage: { name: "Baggage", Icon: Luggage, color: "var(--series-8)" },
  "check-in": { name: "Check-in", Icon: Ticket, color: "var(--series-6)" },
  water: { name: "Water", Icon: Droplets, color: "var(--series-6)" },
  power: { name: "Charging", Icon: PlugZap, color: "var(--series-5)" },
};

/** The categories of the features, in the order of their first appearance. */
export function listCategories(features: readonly MapFeature[]): readonly MapCategory[] {
  return [...new Set(features.flatMap(({ properties }) => properties.category ?? []))];
}

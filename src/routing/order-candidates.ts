import type { RouteCandidate } from '../task/candidates.ts';

export interface RouteChannel {
  readonly id: string;
  readonly priority: number;
  readonly weight: number;
  readonly credentials: readonly string[];
}

/**
 * The highest priority comes first. Channels of equal priority are drawn by weight, without replacement, so the plan
 * contains each of them. Each channel's credentials are shuffled.
 */
export function orderCandidates(channels: readonly RouteChannel[], random: () => number): RouteCandidate[] {
  const priorities = [...new Set(channels.map((channel) => channel.priority))].sort((a, b) => b - a);
  return priorities.flatMap((priority) =>
    drawByWeight(
      channels.filter((channel) => channel.priority === priority),
      random,
    ).flatMap((channel) =>
      shuffle(channel.credentials, random).map((credential) => ({ channel: channel.id, credential })),
    ),
  );
}

function drawByWeight(channels: readonly RouteChannel[], random: () => number): RouteChannel[] {
  const left = [...channels];
  const drawn: RouteChannel[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, channel) => sum + channel.weight, 0);
    let mark = random() * total;
    const index = left.findIndex((channel) => (mark -= channel.weight) < 0);
    drawn.push(...left.splice(index < 0 ? left.length - 1 : index, 1));
  }
  return drawn;
}

function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

import { mistakesBetween } from '../base/nearest.ts';
import { openApiPath } from './openapi-schemas.ts';
import type { Route } from './route.ts';

const pathCharactersMax = 200;
const segmentCharactersMax = 32;
const mistakesMax = 3;

/**
 * Returns a route such as `/v1/videos/generations/{task_id}`. The given path may contain typos, lack its `/v1`, or
 * repeat it. Returns undefined if no route is close. Anyone can trigger this, so the amount of work is bounded.
 */
export function createNearestRoute(
  routes: readonly Pick<Route, 'paths'>[],
): (path: string) => string | undefined {
  // Literal routes come first, because a parameter matches every word.
  const known = routes
    .flatMap(({ paths }) => paths)
    .map((path) => ({ path, segments: segmentsOf(path) }))
    .toSorted((one, other) => Number(endsOpen(one)) - Number(endsOpen(other)));
  return (path) => {
    if (path.length > pathCharactersMax) return undefined;
    let nearest: string | undefined;
    let fewest = mistakesMax + 1;
    for (const segments of readings(path)) {
      for (const candidate of known) {
        const mistakes = mistakesIn(segments, candidate.segments, fewest);
        if (mistakes >= fewest || (nearest !== undefined && endsOpen(candidate))) continue;
        nearest = candidate.path;
        fewest = mistakes;
      }
    }
    return nearest === undefined ? undefined : openApiPath(nearest);
  };
}

function endsOpen({ segments }: { readonly segments: readonly string[] }): boolean {
  return segments.at(-1)?.startsWith(':') === true;
}

function readings(path: string): string[][] {
  const segments = segmentsOf(path);
  const [first, second] = segments;
  return first === 'v1' && second === 'v1' ? [segments.slice(1)] : [segments, ['v1', ...segments]];
}

function segmentsOf(path: string): string[] {
  return path
    .replaceAll(/[{}]/g, '')
    .split('/')
    .filter((segment) => segment !== '');
}

/** Returns `bound` or more if the route is too different. */
function mistakesIn(asked: readonly string[], route: readonly string[], bound: number): number {
  if (asked.length !== route.length) return bound;
  let mistakes = 0;
  for (const [index, segment] of route.entries()) {
    const word = asked[index] ?? '';
    if (segment.startsWith(':') || word === segment) continue;
    if (word.length > segmentCharactersMax || Math.abs(word.length - segment.length) >= bound) return bound;
    const wrong = mistakesBetween(word.toLowerCase(), segment);
    // A segment in which more than half of the letters are wrong is a different word.
    if (wrong * 2 > segment.length) return bound;
    mistakes += wrong;
    if (mistakes >= bound) return bound;
  }
  return mistakes;
}

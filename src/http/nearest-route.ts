import { mistakesBetween } from '../base/nearest.ts';
import { openApiPath } from './openapi.ts';
import type { Route } from './route.ts';

/** A longer address is not compared with ours. */
const pathCharactersMax = 200;
const segmentCharactersMax = 32;
/** In all segments together. */
const mistakesMax = 3;

/**
 * The route that an unknown path most likely means, as `/v1/videos/generations/{task_id}`: with letters wrong, without
 * its `/v1`, or with two. Undefined: none is near. The work is bounded: anybody may ask.
 */
export function createNearestRoute(
  routes: readonly Pick<Route, 'paths'>[],
): (path: string) => string | undefined {
  // What a route spells out comes first: a parameter fits every word.
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

/** Whether its last segment may be any word. */
function endsOpen({ segments }: { readonly segments: readonly string[] }): boolean {
  return segments.at(-1)?.startsWith(':') === true;
}

function readings(path: string): string[][] {
  const segments = segmentsOf(path);
  const [first, second] = segments;
  return first === 'v1' && second === 'v1' ? [segments.slice(1)] : [segments, ['v1', ...segments]];
}

/** Empty ones and a trailing slash do not count. */
function segmentsOf(path: string): string[] {
  return path
    .replaceAll(/[{}]/g, '')
    .split('/')
    .filter((segment) => segment !== '');
}

/** A parameter of the route is whatever stands there. `bound`, or more: not worth knowing. */
function mistakesIn(asked: readonly string[], route: readonly string[], bound: number): number {
  if (asked.length !== route.length) return bound;
  let mistakes = 0;
  for (const [index, segment] of route.entries()) {
    const word = asked[index] ?? '';
    if (segment.startsWith(':') || word === segment) continue;
    if (word.length > segmentCharactersMax || Math.abs(word.length - segment.length) >= bound) return bound;
    const wrong = mistakesBetween(word.toLowerCase(), segment);
    // What has less than half of its letters right is another word.
    if (wrong * 2 > segment.length) return bound;
    mistakes += wrong;
    if (mistakes >= bound) return bound;
  }
  return mistakes;
}

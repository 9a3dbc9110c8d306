import { expect, it } from 'vitest';
import { createNearestRoute } from '../../src/http/nearest-route.ts';

const nearestTo = createNearestRoute([
  { paths: ['/v1/videos/generations/{:task_id}', '/v1/video/generations/{:task_id}'] },
  { paths: ['/v1/videos/generations', '/v1/video/generations'] },
  { paths: ['/v1/videos/generations/estimate'] },
  { paths: ['/v1/videos/:task_id'] },
  { paths: ['/v1/models'] },
  { paths: ['/healthz'] },
]);

it.each([
  ['/v1/videos/generation', '/v1/videos/generations'],
  ['/v1/videos/task_1', '/v1/videos/{task_id}'],
  ['/v1/video/task_1', '/v1/videos/{task_id}'],
  ['/v1/vidoes/generations', '/v1/videos/generations'],
  ['/videos/generations', '/v1/videos/generations'],
  ['/v1/v1/videos/generations', '/v1/videos/generations'],
  ['/V1/Models', '/v1/models'],
  ['/v1/model', '/v1/models'],
  ['/v1/videos/generation/task_1', '/v1/videos/generations/{task_id}'],
  ['/v1/videos/generations/task_1/x', undefined],
  ['/health', '/healthz'],
  ['/', undefined],
  ['/wp-login.php', undefined],
  [`/v1/${'x'.repeat(300)}`, undefined],
  ['/'.repeat(190), undefined],
])('what %j means is %j', (path, route) => {
  expect(nearestTo(path)).toBe(route);
});

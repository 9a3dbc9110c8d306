import { expect, it } from 'vitest';
import { createBody } from '../../src/pages/console/new-key.js';

it('sends what was filled in, in the units of the API, and nothing else', () => {
  const empty = { name: 'shop', models: '', requests_per_minute: '', concurrent_tasks: '', days: '' };
  expect(createBody(empty, 1_000)).toEqual({ name: 'shop' });
  const filled = {
    ...empty,
    models: 'clip , plain',
    requests_per_minute: '600',
    concurrent_tasks: '3',
    days: '1',
  };
  expect(createBody(filled, 1_000)).toEqual({
    name: 'shop',
    models: ['clip', 'plain'],
    requests_per_minute: 600,
    concurrent_tasks: 3,
    expires_at: 87_400,
  });
});

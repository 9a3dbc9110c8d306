import { expect, it } from 'vitest';
import { createBody } from '../../src/pages/console/key-body.js';

it('sends what was filled in, in the units of the API, and nothing else', () => {
  const empty = {
    name: 'shop',
    models: '',
    requests_per_minute: '',
    concurrent_tasks: '',
    days: '',
    day: '',
    link: '',
  };
  expect(createBody(empty, 1_000)).toEqual({ name: 'shop' });
  const filled = {
    ...empty,
    models: 'clip , plain',
    requests_per_minute: '600',
    concurrent_tasks: '3',
    days: '1',
    month: '20',
    link: '259200',
  };
  expect(createBody(filled, 1_000)).toEqual({
    name: 'shop',
    models: ['clip', 'plain'],
    requests_per_minute: 600,
    concurrent_tasks: 3,
    caps: { month: '20' },
    link_valid_seconds: 259_200,
    expires_at: 87_400,
  });
});

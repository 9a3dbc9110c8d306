import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_models');

it('what the key may use, with capabilities and prices', async () => {
  const { call } = await world.newAccount();
  const { body } = await call('GET', '/v1/models');
  expect(body.object).toBe('list');
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['clip', 'plain', 'other', 'picture']);
  expect(body.data[0]).toMatchObject({
    object: 'model',
    created: expect.any(Number),
    owned_by: 'mediary',
    kind: 'video',
    facts: [{ fields: { seed: true }, other_parameters: true }],
    capabilities: {
      resolutions: ['720p', '480p', '1080p'],
      durations: { min: 2, max: 12, default: 5, auto: true },
    },
    pricing: {
      currency: 'USD',
      lines: [
        { measure: 'second', when: { resolution: ['1080p'] }, price: '0.200000' },
        { measure: 'second', when: {}, price: '0.100000' },
      ],
    },
  });
});

it('hides what the key may not use', async () => {
  const byModel = await world.newAccount({ key: { models: ['plain'] } });
  expect((await byModel.call('GET', '/v1/models')).body.data).toMatchObject([{ id: 'plain' }]);
  const byChannel = await world.newAccount({ key: { channels: ['three'] } });
  expect((await byChannel.call('GET', '/v1/models')).body.data).toMatchObject([{ id: 'other' }]);
});

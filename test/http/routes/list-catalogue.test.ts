import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_catalogue');

it('has every model of the example file, with its prices and the channels that serve it', async () => {
  const { status, body } = await world.admin('GET', '/config/catalogue');
  expect(status).toBe(200);
  const kling = body.data.find(({ id }: { id: string }) => id === 'kling-3.0-omni');
  expect(kling).toMatchObject({
    kind: 'video',
    minimum: '0',
    channels: [{ id: 'kling', provider: 'kling', upstream: 'kling-3.0-omni' }],
  });
  expect(kling.lines.at(-1)).toEqual({ measure: 'second', price: '0.084', when: {}, beyond: 0 });
  const unserved = body.data.filter(({ channels }: { channels: unknown[] }) => channels.length === 0);
  expect(unserved).toEqual([]);
  expect(body.data.length).toBeGreaterThan(60);
  expect(JSON.stringify(body)).not.toContain('${');
});

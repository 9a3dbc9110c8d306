import { expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors/errors.ts';
import { startDraftsNode } from '../../support/drafts-node.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_try_credential');
const asked = { channel: 'one', credential: 'a' };

it('tries the key of the draft before anything is published', async () => {
  const node = await startDraftsNode(world, {
    tryCredential: (config, channel) => {
      const { api_key: key } = config.channels.find(({ id }) => id === channel)?.credentials[0] ?? {};
      if (key === undefined) throw new GatewayError('channel_not_found', 'No such channel.');
      return Promise.resolve({ verdict: key === 'sk-right' ? 'accepted' : 'refused', words: 'Said.' });
    },
  });
  const ask = (change = {}) => node.admin('POST', '/config/draft/credentials/try', { ...asked, ...change });
  expect((await ask()).body).toEqual({ object: 'config.credential', verdict: 'refused', words: 'Said.' });
  await node.set({ '/channels/one/credentials/a/api_key': 'sk-right' });
  expect((await ask()).body).toMatchObject({ verdict: 'accepted' });
  expect(await ask({ channel: 'none' })).toMatchObject({ status: 404 });
  await node.set({ '/channels/one/base_url': 'https://evil.example' });
  const moved = await ask();
  expect([moved.status, moved.body.error.message]).toEqual([400, expect.stringContaining('enter it again')]);
});

it('a key of the file is not sent to another server by the edit that begins the draft', async () => {
  const asks: string[] = [];
  const node = await startDraftsNode(world, {
    tryCredential: (_config, channel) => {
      asks.push(channel);
      return Promise.resolve({ verdict: 'accepted', words: 'Said.' });
    },
  });
  await node.set({ '/channels/one/base_url': 'https://evil.example' });
  const moved = await node.admin('POST', '/config/draft/credentials/try', asked);
  expect([moved.status, moved.body.error.message]).toEqual([400, expect.stringContaining('enter it again')]);
  expect(asks).toEqual([]);
  await node.set({ '/channels/one/credentials/a/api_key': 'sk-written-in-the-file' });
  expect((await node.draft()).violations).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import { send, useHttpWorld } from './support.ts';
import { adminToken } from './support.ts';

const world = useHttpWorld('http_operators');

describe('accounts', () => {
  it('are created with a webhook secret that is shown once', async () => {
    const made = await world.admin('POST', '/accounts', {
      id: 'studio',
      name: 'A studio',
      overdraft_limit: '5',
    });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      object: 'account',
      id: 'studio',
      name: 'A studio',
      overdraft_limit: '5.000000',
      available: '0.000000',
      held: '0.000000',
      created_at: expect.any(Number),
      webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
    });
    const shown = await world.admin('GET', '/accounts/studio');
    const { webhook_secret, ...rest } = made.body;
    expect(shown.body).toEqual(rest);
    const stored = JSON.stringify((await world.stores.accounts.find('studio'))?.webhookSecrets);
    expect(stored).not.toContain(webhook_secret.slice(6));
  });

  it('get an id if they bring none', async () => {
    const { body } = await world.admin('POST', '/accounts', {});
    expect(body.id).toMatch(/^acct_[0-9A-Za-z]{16}$/);
  });

  it('409: the id is taken', async () => {
    await world.admin('POST', '/accounts', { id: 'twice' });
    const answer = await world.admin('POST', '/accounts', { id: 'twice' });
    expect([answer.status, answer.body.error]).toEqual([
      409,
      expect.objectContaining({ code: 'account_exists', param: 'id' }),
    ]);
  });

  it.each([
    [{ id: 'with/slash' }, 'id'],
    [{ id: 'with:colon' }, 'id'],
    [{ id: '' }, 'id'],
    [{ id: 'x'.repeat(65) }, 'id'],
    [{ id: 5 }, 'id'],
    [{ name: 5 }, 'name'],
    [{ overdraft_limit: 5 }, 'overdraft_limit'],
    [{ overdraft_limit: '-5' }, 'overdraft_limit'],
    [{ overdraft_limit: '0.0000001' }, 'overdraft_limit'],
  ])('400: %j', async (body, param) => {
    const answer = await world.admin('POST', '/accounts', body);
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_parameter', param }),
    ]);
  });

  it('404', async () => {
    const paths = ['/accounts/none', '/accounts/none/ledger'];
    for (const path of paths)
      expect((await world.admin('GET', path)).body.error.code).toBe('account_not_found');
    expect(
      (await world.admin('POST', '/accounts/none/credits', { amount: '1', reference: 'r' })).status,
    ).toBe(404);
    expect((await world.admin('POST', '/accounts/none/webhook-secret/rotate')).status).toBe(404);
  });

  it('list in pages', async () => {
    for (const id of ['page-1', 'page-2', 'page-3']) await world.admin('POST', '/accounts', { id });
    const first = await world.admin('GET', '/accounts?limit=2&after=page-0');
    expect(first.body.data.map(({ id }: { id: string }) => id)).toEqual(['page-1', 'page-2']);
    expect(first.body.has_more).toBe(true);
    const rest = await world.admin('GET', '/accounts?limit=100&after=page-2');
    expect(rest.body.data.map(({ id }: { id: string }) => id)).toContain('page-3');
    expect(rest.body.has_more).toBe(false);
  });

  it('the webhook secret is replaced; two are valid', async () => {
    const made = await world.admin('POST', '/accounts', { id: 'rotating' });
    const rotated = await world.admin('POST', '/accounts/rotating/webhook-secret/rotate');
    await world.admin('POST', '/accounts/rotating/webhook-secret/rotate');
    const sealed = (await world.stores.accounts.find('rotating'))?.webhookSecrets ?? [];
    const open = sealed.map((secret) => world.deps.secrets.open('webhook-secret', secret));
    expect(open).toHaveLength(2);
    expect(open[1]).toBe(rotated.body.webhook_secret);
    expect(open).not.toContain(made.body.webhook_secret);
  });
});

describe('credits', () => {
  const credit = (account: string, body: object) => world.admin('POST', `/accounts/${account}/credits`, body);

  it('are idempotent by reference, and may be negative', async () => {
    const { id } = await world.newAccount({ credit: '0' });
    const first = await credit(id, { amount: '12.5', reference: 'invoice-1', note: 'thanks' });
    expect(first.body).toEqual({
      object: 'ledger.entry',
      id: `${id}/1`,
      account: id,
      seq: 1,
      kind: 'credit',
      task: null,
      amount: '12.500000',
      available: '12.500000',
      held: '0.000000',
      note: 'by operator: thanks',
      at: expect.any(Number),
    });
    const again = await credit(id, { amount: '12.5', reference: 'invoice-1' });
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotency-replayed']).toBe('true');
    const correction = await credit(id, { amount: '-20', reference: 'invoice-1-corrected' });
    expect(correction.body).toMatchObject({ kind: 'adjust', amount: '-20.000000', available: '-7.500000' });
  });

  it('many at once with one reference are one', async () => {
    const { id } = await world.newAccount({ credit: '0' });
    await Promise.all(Array.from({ length: 10 }, () => credit(id, { amount: '1', reference: 'same' })));
    expect((await world.admin('GET', `/accounts/${id}`)).body.available).toBe('1.000000');
  });

  it('409: the reference was for another amount', async () => {
    const { id } = await world.newAccount({ credit: '0' });
    await credit(id, { amount: '1', reference: 'r' });
    const answer = await credit(id, { amount: '2', reference: 'r' });
    expect([answer.status, answer.body.error]).toEqual([
      409,
      expect.objectContaining({ code: 'idempotency_key_reused', param: 'reference' }),
    ]);
  });

  it.each([
    [{ reference: 'r' }, 'missing_parameter', 'amount'],
    [{ amount: '1' }, 'missing_parameter', 'reference'],
    [{ amount: '1', reference: '' }, 'invalid_parameter', 'reference'],
    [{ amount: 1, reference: 'r' }, 'invalid_parameter', 'amount'],
    [{ amount: '0', reference: 'r' }, 'invalid_parameter', 'amount'],
    [{ amount: '1e3', reference: 'r' }, 'invalid_parameter', 'amount'],
    [{ amount: '1,5', reference: 'r' }, 'invalid_parameter', 'amount'],
    [{ amount: '0.0000001', reference: 'r' }, 'invalid_parameter', 'amount'],
    [{ amount: '1000000000000', reference: 'r' }, 'invalid_parameter', 'amount'],
  ])('400: %j', async (body, code, param) => {
    const { id } = await world.newAccount({ credit: '0' });
    const answer = await credit(id, body);
    expect([answer.status, answer.body.error]).toEqual([400, expect.objectContaining({ code, param })]);
  });

  it.each(['', '%20', '0x10', '1e3', '-1', '1.5', 'x'])(
    'a page of the ledger after "%s" is a 400',
    async (after) => {
      const { id } = await world.newAccount();
      const answer = await world.admin('GET', `/accounts/${id}/ledger?after=${after}`);
      expect([answer.status, answer.body.error.param]).toEqual([400, 'after']);
    },
  );

  it('the ledger lists every entry, in pages', async () => {
    const account = await world.newAccount({ credit: '10' });
    const { body } = await account.create();
    await account.call('POST', `/v1/videos/generations/${body.id}/cancel`);
    const first = await world.admin('GET', `/accounts/${account.id}/ledger?limit=2`);
    expect(first.body.data.map(({ kind }: { kind: string }) => kind)).toEqual(['credit', 'hold']);
    expect(first.body.has_more).toBe(true);
    const rest = await world.admin('GET', `/accounts/${account.id}/ledger?after=2`);
    expect(rest.body.data).toEqual([
      expect.objectContaining({
        seq: 3,
        kind: 'release',
        task: body.id,
        amount: '0.500000',
        available: '10.000000',
        held: '0.000000',
      }),
    ]);
    expect(rest.body.has_more).toBe(false);
  });
});

describe('keys', () => {
  it('are shown once, listed without, and revoked', async () => {
    const { id } = await world.newAccount();
    const wishes = {
      account: id,
      name: 'build server',
      models: ['clip'],
      channels: ['one'],
      requests_per_minute: 60,
      concurrent_tasks: 3,
      asset_urls: false,
      expires_at: Math.floor(Date.now() / 1000) + 3_600,
    };
    const made = await world.admin('POST', '/keys', wishes);
    const { key, ...rest } = made.body;
    expect(rest).toEqual({
      object: 'key',
      id: expect.stringMatching(/^key_/),
      prefix: key.slice(0, 8),
      revoked_at: null,
      created_at: expect.any(Number),
      ...wishes,
    });
    const listed = await world.admin('GET', `/keys?account=${id}`);
    expect(listed.body.data[0]).toEqual(rest);
    const revoked = await world.admin('DELETE', `/keys/${rest.id}`);
    expect(revoked.body).toEqual({ object: 'key', id: rest.id, revoked: true });
    expect((await world.admin('DELETE', `/keys/${rest.id}`)).status).toBe(200);
    expect((await world.admin('GET', `/keys?account=${id}`)).body.data[0].revoked_at).toEqual(
      expect.any(Number),
    );
  });

  it('404: unknown account, unknown key', async () => {
    expect((await world.admin('POST', '/keys', { account: 'none' })).body.error.code).toBe(
      'account_not_found',
    );
    expect((await world.admin('DELETE', '/keys/none')).body.error.code).toBe('key_not_found');
  });

  it.each([
    [{}, 'missing_parameter', 'account'],
    [{ models: [] }, 'invalid_parameter', 'models'],
    [{ models: 'clip' }, 'invalid_parameter', 'models'],
    [{ models: ['clip', 'clop'] }, 'invalid_parameter', 'models[1]'],
    [{ channels: ['won'] }, 'invalid_parameter', 'channels[0]'],
    [{ models: ['clip', 5] }, 'invalid_parameter', 'models[1]'],
    [{ requests_per_minute: 0 }, 'invalid_parameter', 'requests_per_minute'],
    [{ concurrent_tasks: 1.5 }, 'invalid_parameter', 'concurrent_tasks'],
    [{ expires_at: 1 }, 'invalid_parameter', 'expires_at'],
  ])('400: %j', async (body, code, param) => {
    const { id } = await world.newAccount();
    const answer = await world.admin(
      'POST',
      '/keys',
      code === 'missing_parameter' ? body : { account: id, ...body },
    );
    expect([answer.status, answer.body.error]).toEqual([400, expect.objectContaining({ code, param })]);
  });
});

describe('tasks', () => {
  it('list by account, status, channel, and who needs an operator', async () => {
    const account = await world.newAccount();
    const made = [await account.create(), await account.create(), await account.create()].map(
      ({ body }) => body.id,
    );
    const version = BigInt(Date.now()) * 1000n;
    await world.stores.tasks.markSubmitted(made[0], {
      version,
      channel: 'one',
      credential: 'a',
      upstreamId: 'u1',
      traceId: '',
    });
    await world.stores.tasks.setAttention(made[1], 'submit_ambiguous', version);
    const ids = async (query: string) =>
      (await world.admin('GET', `/tasks?account=${account.id}&${query}`)).body.data.map(
        ({ id }: { id: string }) => id,
      );
    expect(await ids('')).toHaveLength(3);
    expect(await ids('status=submitted')).toEqual([made[0]]);
    expect(await ids('channel=one')).toEqual([made[0]]);
    expect(await ids('needs_attention=true')).toEqual([made[1]]);
    expect(await ids('needs_attention=false')).toHaveLength(3);
    expect(await ids('kind=image')).toEqual([]);
    expect(await ids('class=capacity')).toEqual([]);
    await world.stores.tasks.recordOutcome(made[2], {
      kind: 'failed',
      code: 'ServerOverloaded',
      message: 'm',
      failure: { class: 'capacity' },
      cost: { amount: '0.035', unit: 'USD' },
    });
    await world.stores.tasks.recordProgress(made[2], { queuePosition: 7 });
    await world.stores.tasks.finish(made[2], {
      status: 'failed',
      version: version + 1n,
      charge: 0n,
      chargeEstimated: false,
      error: { code: 'provider_error', message: 'm', class: 'capacity' },
    });
    expect(await ids('class=capacity')).toEqual([made[2]]);
    expect(await ids('class=internal')).toEqual([]);
    expect((await world.admin('GET', '/tasks?class=odd')).status).toBe(400);
    const { body: shown } = await world.admin('GET', `/tasks/${made[2]}`);
    expect(shown).toMatchObject({
      error: { class: 'capacity' },
      upstream_cost: { amount: '0.035', unit: 'USD' },
      queue_position: 7,
    });
    expect((await world.admin('GET', '/tasks?status=odd')).status).toBe(400);
  });

  it('show attempts, ledger entries, callbacks and actions, and not what was asked for', async () => {
    const account = await world.newAccount();
    const id: string = (await account.create({ prompt: 'a very private prompt' })).body.id;
    const { attempts, deliveries, tasks } = world.stores;
    await attempts.begin({ task: id, n: 1, channel: 'one', credential: 'a', marker: 'm' }, 'run');
    await attempts.accept(`${id}:1`, { channel: 'one' }, { id: `up-${id}` });
    await attempts.accept(`${id}:1`, { channel: 'one' }, { id: 'up-late' });
    await tasks.markSubmitted(id, {
      version: BigInt(Date.now()) * 1000n,
      channel: 'one',
      credential: 'a',
      upstreamId: `up-${id}`,
      traceId: 't',
    });
    await deliveries.begin(id, 'task', 'https://me.example');
    await deliveries.record(
      id,
      { at: 1, durationMs: 2, status: 500 },
      { target: 'https://me.example', state: 'pending' },
    );
    const { body, text } = await world.admin('GET', `/tasks/${id}`);
    expect(body).toMatchObject({
      id,
      account: account.id,
      key: account.keyId,
      kind: 'video',
      channel: 'one',
      credential: 'a',
      upstream_id: `up-${id}`,
      hold: '0.500000',
      charge: null,
      needs_attention: null,
      actions: [],
      attempts: [
        {
          n: 1,
          state: 'accepted',
          channel: 'one',
          upstream_id: `up-${id}`,
          stray_upstream_id: 'up-late',
          code: null,
        },
      ],
      ledger: [{ kind: 'hold', amount: '0.500000', task: id }],
      callback: { state: 'pending', target: 'https://me.example', attempts: [{ status: 500, error: null }] },
    });
    const found = async (upstreamId: string) =>
      (await world.admin('GET', `/tasks?upstream_id=${upstreamId}`)).body.data;
    expect(await found(`up-${id}`)).toMatchObject([{ id }]);
    expect(await found('up-nobody')).toEqual([]);
    expect(text).not.toContain('private prompt');
  });

  it('actions go to the port, and into the record with who, when and why', async () => {
    const account = await world.newAccount();
    const id: string = (await account.create()).body.id;
    const answer = await send(world.url, 'POST', `/admin/v1/tasks/${id}/actions`, {
      key: adminToken,
      headers: { 'x-operator': 'ada' },
      body: { action: 'adopt', reason: 'found it upstream', upstream_id: 'up-7' },
    });
    expect(answer.status).toBe(200);
    expect(answer.body.actions).toEqual([
      { at: expect.any(Number), by: 'ada', action: 'adopt', reason: 'found it upstream' },
    ]);
    expect(world.port.acts).toContainEqual({
      task: id,
      action: { action: 'adopt', by: 'ada', reason: 'found it upstream', upstreamId: 'up-7' },
    });
  });

  it('409: the action is not possible, and is not recorded', async () => {
    const account = await world.newAccount();
    const id: string = (await account.create()).body.id;
    const answer = await world.admin('POST', `/tasks/${id}/actions`, { action: 'resubmit', reason: 'try' });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'action_not_possible']);
    expect((await world.admin('GET', `/tasks/${id}`)).body.actions).toEqual([]);
  });

  it.each([
    [{ reason: 'r' }, 'missing_parameter', 'action'],
    [{ action: 'explode', reason: 'r' }, 'invalid_parameter', 'action'],
    [{ action: 'poll' }, 'missing_parameter', 'reason'],
    [{ action: 'poll', reason: '' }, 'invalid_parameter', 'reason'],
    [{ action: 'adopt', reason: 'r' }, 'invalid_parameter', 'upstream_id'],
  ])('400: %j', async (body, code, param) => {
    const answer = await world.admin('POST', '/tasks/task_0000000000000000000000/actions', body);
    expect([answer.status, answer.body.error]).toEqual([400, expect.objectContaining({ code, param })]);
  });

  it('404', async () => {
    expect((await world.admin('GET', '/tasks/none')).body.error.code).toBe('task_not_found');
    expect((await world.admin('POST', '/tasks/none/actions', { action: 'poll', reason: 'r' })).status).toBe(
      404,
    );
  });
});

describe('channels', () => {
  it('list without secrets', async () => {
    const { body, text } = await world.admin('GET', '/channels');
    expect(body.data).toHaveLength(3);
    expect(body.data[2]).toMatchObject({
      object: 'channel',
      id: 'three',
      provider: 'test',
      enabled: true,
      configured: true,
      switch: null,
      credentials: ['c'],
      models: ['other'],
    });
    expect(text).not.toMatch(/api_key|127\.0\.0\.1/);
  });

  it('a switched-off channel takes no new tasks here, and elsewhere after a look', async () => {
    const account = await world.newAccount();
    const node = await world.startNode();
    const off = await world.admin('POST', '/channels/three', { enabled: false, reason: 'maintenance' });
    expect(off.body).toMatchObject({
      enabled: false,
      configured: true,
      switch: { enabled: false, by: 'operator', reason: 'maintenance' },
    });
    const refused = await account.create({ model: 'other' });
    expect([refused.status, refused.body.error.code, refused.headers['retry-after']]).toEqual([
      503,
      'service_unavailable',
      '30',
    ]);
    await node.admin('GET', '/channels');
    expect(
      (
        await node.call('POST', '/v1/videos/generations', {
          key: account.key,
          body: { model: 'other', prompt: 'x' },
        })
      ).status,
    ).toBe(503);
    await world.admin('POST', '/channels/three', { enabled: true });
    expect((await account.create({ model: 'other' })).status).toBe(200);
  });

  it('404, 400', async () => {
    expect((await world.admin('POST', '/channels/none', { enabled: true })).body.error.code).toBe(
      'channel_not_found',
    );
    expect((await world.admin('POST', '/channels/one', {})).body.error.param).toBe('enabled');
  });
});

describe('configuration', () => {
  it('a bad file is refused with every violation', async () => {
    const answer = await world.admin('POST', '/config/reload');
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toBe('The file was not loaded: models: required; currency: required');
  });

  it('a good one is named by its fingerprint', async () => {
    const node = await world.startNode({ reloadConfig: () => Promise.resolve({ ok: true, version: 'abc' }) });
    expect((await node.admin('POST', '/config/reload')).body).toEqual({ object: 'config', version: 'abc' });
  });
});

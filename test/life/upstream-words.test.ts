import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { imageYaml, sendJson } from '../images/support.ts';
import { actOn, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { listen, listener } from '../support/listen.ts';

const [prompt, user] = ['a heron over the silver fjord', 'customer-4711-of-ours'];
const token = 'silverfjord';
const hostile = '\u001B[2J\u202Egnp.exe\u009B31m';
const unprintable = /[\p{Cc}\p{Cf}]/u;

type Answering = (body: Readonly<Record<string, unknown>>, response: ServerResponse) => void;

let upstream: Awaited<ReturnType<typeof listen>>;
let gateway: TestGateway;
let account: TestAccount;
let answer: Answering;
let status: object = {};

beforeAll(async () => {
  const server = createServer(
    listener(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (request.method === 'POST') answer(JSON.parse(Buffer.concat(chunks).toString('utf8')), response);
      else sendJson(response, 200, status);
    }),
  );
  upstream = await listen(server);
  const { url } = upstream;
  const [channels = '', models = ''] = imageYaml({ first: url }).split('\nmodels:');
  const video = testYaml.replace('${SIMULATOR_URL}', url).split('\nmodels:');
  gateway = await startGateway({
    yaml: `${channels.replace('id: ark', 'id: seedream-ark')}${video[0]?.split('channels:')[1]}\nmodels:${models}${video[1]}`,
    watchesLog: true,
  });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});
beforeEach(() => {
  status = { error: { code: 'InternalError', message: 'later' } };
});

const echo =
  (httpStatus: number): Answering =>
  (body, response) =>
    sendJson(response, httpStatus, {
      error: { code: token, message: `refused: ${JSON.stringify(body)} of ${user}` },
    });

const log = () => gateway.logLines.join('');

describe('an upstream that repeats the request', () => {
  it.each([400, 500])(
    'with %i for an image: its caller can read it, but the log does not contain it',
    async (httpStatus) => {
      answer = echo(httpStatus);
      const body = { model: 'gpt-image', prompt, user };
      const { body: said } = await account.call('POST', '/v1/images/generations', { body });
      expect(said.error.message).toContain(prompt);
      expect(said.error.message).toContain(`${token}: `);
      await waitUntil('the refusal is in the log', async () => log().includes(`: http_${httpStatus}"`));
      expect(log()).not.toContain(token);
      expect(log()).not.toContain(prompt);
      expect(log()).not.toContain(user);
    },
  );

  it('for a video: neither the log nor the history of its workflow contains it', async () => {
    answer = (body, response) => {
      answer = echo(400);
      echo(429)(body, response);
    };
    const { body } = await account.create({ prompt, safety_identifier: user });
    const { message } = (await account.finished(body.id))['error'];
    expect(message).toContain(prompt);
    expect(message).toContain(`${token}: `);
    expect(log()).not.toContain(prompt);
    expect(log()).not.toContain(token);
    expect(log()).not.toContain(user);
    const history = await gateway.core.client.workflow.getHandle(body.id).fetchHistory();
    const events = JSON.stringify(history);
    expect(events).toContain('does not accept the job at the moment (http_429)');
    expect(events).not.toContain(token);
    expect(events).not.toContain(prompt);
    expect(events).not.toContain(user);
  });
});

describe('an upstream that sends terminal control characters', () => {
  it('in codes and messages: they are removed for the caller and for operators', async () => {
    answer = (_body, response) =>
      sendJson(response, 400, { error: { code: `Bad${hostile}`, message: `no${hostile}\r\nnever` } });
    const { body } = await account.create();
    const task = await account.finished(body.id);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'provider_error' } });
    expect(task['error'].message).toMatch(/^http_400: Bad.*no.*never$/);
    const shown = (await gateway.admin('GET', `/tasks/${body.id}`)).body;
    const record = (await gateway.admin('GET', `/tasks/${body.id}/record`)).body;
    for (const seen of [task, shown, record])
      expect(textsIn(seen).filter((text) => unprintable.test(text))).toEqual([]);
  });

  it('in the id of a job that it accepts: the submission is lost, and its hold stays', async () => {
    answer = (_body, response) => sendJson(response, 200, { id: `cgt-1${hostile}` });
    const { body } = await account.create();
    const shown = async () => (await gateway.admin('GET', `/tasks/${body.id}`)).body;
    await waitUntil('it is lost', async () => (await shown()).situation.name === 'asking');
    expect(await shown()).toMatchObject({
      upstream_id: null,
      ledger: [{ kind: 'hold' }],
    });
    const action = { action: 'fail', reason: 'not in the console' };
    expect((await actOn(gateway.admin, body.id, action)).status).toBe(200);
  });
});

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => [name, ...textsIn(item)]);
}

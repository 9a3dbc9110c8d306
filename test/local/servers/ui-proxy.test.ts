import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { choosePort } from '../../../src/local/servers/ports.ts';
import { startUiProxy } from '../../../src/local/servers/ui-proxy.ts';
import { waitUntil } from '../../support/processes.ts';
import { listener } from '../../support/listen.ts';

type Handler = (incoming: IncomingMessage, answer: ServerResponse) => void;

async function behindProxy(handle: Handler): Promise<{ url: string; stopUi: () => void }> {
  const ui = createServer(handle);
  ui.listen(0, '127.0.0.1');
  await once(ui, 'listening');
  const address = ui.address();
  const target = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const proxy = await startUiProxy(target, await choosePort('any', 'a test'));
  const stopUi = (): void => {
    ui.close();
    ui.closeAllConnections();
  };
  onTestFinished(async () => {
    await proxy.stop();
    stopUi();
  });
  return { url: proxy.url, stopUi };
}

it('disables in the settings what docker-compose.yml does, and changes nothing else', async () => {
  const { url } = await behindProxy((incoming, answer) => {
    expect(incoming.headers['accept-encoding']).toBe('identity');
    answer.setHeader('set-cookie', ['a=1', 'b=2']);
    answer.end(
      JSON.stringify({ Version: 'x', WorkflowUpdateDisabled: false, WorkflowTerminateDisabled: false }),
    );
  });
  const answer = await fetch(`${url}/api/v1/settings?x=1`);
  expect(await answer.json()).toEqual({
    Version: 'x',
    WorkflowUpdateDisabled: false,
    WorkflowTerminateDisabled: true,
    WorkflowResetDisabled: true,
    StartWorkflowDisabled: true,
    BatchActionsDisabled: true,
  });
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
});

it('refuses the requests behind those buttons, and forwards those that operators need', async () => {
  const seen: string[] = [];
  const { url } = await behindProxy(
    listener(async (incoming, answer) => {
      seen.push(`${incoming.method} ${incoming.url} ${await text(incoming)}`);
      answer.writeHead(201, { 'x-of-the-ui': 'yes' }).end('done');
    }),
  );
  const task = '/api/v1/namespaces/default/workflows/task_1';
  const post = (path: string) => fetch(url + path, { method: 'POST', body: '{"a":1}' });
  const batch = '/api/v1/namespaces/default/batch-operations/job';
  for (const path of [task, `${task}/terminate`, `${task}/reset?run=1`, batch]) {
    const refused = await post(path);
    expect([path, refused.status]).toEqual([path, 403]);
    expect(await refused.json()).toEqual({ message: expect.stringContaining('gateway tasks action') });
  }
  expect(seen).toEqual([]);
  for (const path of [`${task}/update/fail`, `${task}/activities/reset`, `${task}/cancel`]) {
    const answer = await post(path);
    expect([answer.status, answer.headers.get('x-of-the-ui'), await answer.text()]).toEqual([
      201,
      'yes',
      'done',
    ]);
  }
  await fetch(`${url}${task}/terminate`);
  expect(seen).toEqual([
    `POST ${task}/update/fail {"a":1}`,
    `POST ${task}/activities/reset {"a":1}`,
    `POST ${task}/cancel {"a":1}`,
    `GET ${task}/terminate `,
  ]);
});

it('streams a response while it arrives, and ends it if its reader disconnects', async () => {
  let left = false;
  let continueAnswer: () => void = () => undefined;
  const { url } = await behindProxy((_, answer) => {
    answer.once('close', () => (left = true));
    answer.write('first');
    continueAnswer = () => void answer.write(' second');
  });
  const reading = new AbortController();
  const answer = await fetch(`${url}/slow`, { signal: reading.signal });
  const chunks = answer.body?.getReader();
  const next = async () => Buffer.from((await chunks?.read())?.value ?? []).toString();
  expect(await next()).toBe('first');
  continueAnswer();
  expect(await next()).toBe(' second');
  reading.abort();
  await waitUntil('the UI learns that nobody reads', () => Promise.resolve(left));
});

it('survives an unavailable UI, and callers that break off or send something other than HTTP', async () => {
  let isBroken = true;
  const { url, stopUi } = await behindProxy((_, answer) => {
    if (!isBroken) return void answer.end('here');
    answer.writeHead(200, { 'content-length': 100 });
    answer.write('half', () => answer.destroy());
  });
  await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow();
  for (const sent of ['POST /x HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\nhalf', 'nonsense\r\n\r\n']) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').resume();
    // Ignore errors, because the proxy may reset the connection, which would make `once` reject.
    socket.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
    socket.end(sent);
    await closed;
  }
  isBroken = false;
  expect(await (await fetch(url)).text()).toBe('here');
  stopUi();
  const away = await fetch(url);
  expect([away.status, await away.json()]).toEqual([
    502,
    { message: expect.stringContaining('does not respond') },
  ]);
  // If the settings are not valid JSON, the proxy must respond with an error and must not crash.
  expect((await fetch(`${url}/api/v1/settings`)).status).toBe(502);
});
